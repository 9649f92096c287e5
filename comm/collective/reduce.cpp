// SPDX-License-Identifier: Apache-2.0
#include "comm/core/reduce.h"

#include "comm/collective/check.h"

namespace npu::comm {
namespace {

/// Works for the root, which may be this rank.
void reduce_slice(Meeting& meeting, const Slice& slice) {
  const Call& call = meeting.call();
  const auto inputs = inputs_of(meeting, slice);
  std::byte* const output =
      meeting.output({call.root, slice.begin * call.element_bytes, slice.count() * call.element_bytes});
  reduce(call.dtype, call.reduce, {inputs.data(), meeting.size()}, {&output, 1}, slice.count(), past_cache(meeting));
}

void reduce_all(Meeting& meeting) {
  const Call& call = meeting.call();
  if (meeting.rank() != call.root) return;
  const auto inputs = inputs_of(meeting, {0, call.count});
  std::byte* const output = meeting.output();
  reduce(call.dtype, call.reduce, {inputs.data(), meeting.size()}, {&output, 1}, call.count, false);
}

void reduce_shares(Meeting& meeting) { share_out(meeting, reduce_slice, reduce_all); }

Work work(const Load& load) {
  if (load.algorithm == Algorithm::kFullMesh) return {load.bytes * (load.ranks + 3), 0, 1};
  return load.algorithm == Algorithm::kMesh ? Work{0, load.bytes * (1 + 1 / load.ranks), 2}
                                            : Work{0, load.bytes * (load.ranks + 1), 1};
}

NPU_COLLECTIVE(kReduce, .id = 5, .name = "reduce", .algo_word = "reduce", .reduces = true, .has_root = true,
               .shares = true, .work = work, .body = reduce_shares);

}  // namespace

void reduce(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element,
            ReduceOp op, uint32_t root) {
  check_reduce(element, op);
  check_rank(communicator, root, "root");
  check_buffer(communicator, send, count, element, "sendBuf");
  const bool receives = communicator.rank() == root;
  if (receives) check_buffer(communicator, recv, count, element, "recvBuf");
  Call call = call_of(kReduce, element, count, op, root);
  call.algorithm = communicator.algorithm(kReduce, call.bytes());
  meet(communicator, lane, call, {send, call.bytes(), receives ? recv : nullptr, receives ? call.bytes() : 0});
}

}  // namespace npu::comm
