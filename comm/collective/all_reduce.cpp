// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "comm/collective/check.h"
#include "comm/core/reduce.h"

namespace npu::comm {
namespace {

/// Reduces a slice of everybody's data and writes it to everybody. Nobody else touches that slice, so the buffers may
/// be the same.
void reduce_slice(Meeting& meeting, const Slice& slice) {
  const Call& call = meeting.call();
  const uint64_t unit = call.element_bytes;
  const auto inputs = inputs_of(meeting, slice);
  PerRank<std::byte*> outputs;
  for (uint32_t i = 0; i < meeting.size(); ++i)
    outputs[i] = meeting.output({(meeting.rank() + i) % meeting.size(), slice.begin * unit, slice.count() * unit});
  reduce(call.dtype, call.reduce, {inputs.data(), meeting.size()}, {outputs.data(), meeting.size()}, slice.count(),
         past_cache(meeting));
}

// Everybody reduces everything for itself.
void reduce_all(Meeting& meeting) {
  const Call& call = meeting.call();
  const auto inputs = inputs_of(meeting, {0, call.count});
  std::byte* const output = meeting.output();
  reduce(call.dtype, call.reduce, {inputs.data(), meeting.size()}, {&output, 1}, call.count, false);
}

void reduce_shares(Meeting& meeting) { share_out(meeting, reduce_slice, reduce_all); }

Work work(const Load& load) {
  if (load.algorithm == Algorithm::kFullMesh) return {load.bytes * (load.ranks + 3), 0, 1};
  return load.algorithm == Algorithm::kMesh ? Work{0, 2 * load.bytes, 2} : Work{0, 2 * load.bytes * load.ranks, 1};
}

NPU_COLLECTIVE(kAllReduce, .id = 3, .name = "all_reduce", .algo_word = "allreduce", .reduces = true, .shares = true,
               .work = work, .body = reduce_shares);

}  // namespace

void all_reduce(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element,
                ReduceOp op) {
  check_reduce(element, op);
  check_buffer(communicator, send, count, element, "sendBuf");
  check_buffer(communicator, recv, count, element, "recvBuf");
  Call call = call_of(kAllReduce, element, count, op);
  call.algorithm = communicator.algorithm(kAllReduce, call.bytes());
  meet(communicator, lane, call, {send, call.bytes(), recv, call.bytes()});
}

}  // namespace npu::comm
