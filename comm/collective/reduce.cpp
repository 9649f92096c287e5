// SPDX-License-Identifier: Apache-2.0
#include "comm/reduce.h"

#include "comm/collective/check.h"

namespace npu::comm {
namespace {

// All ranks work for the root, each on a slice.
void reduce_slice(Meeting& meeting) {
  const Call& call = meeting.call();
  const Slice slice = slice_of(call.count, meeting.size(), meeting.rank());
  std::vector<const std::byte*> inputs(meeting.size());
  for (uint32_t i = 0; i < meeting.size(); ++i) inputs[i] = meeting.input(i) + slice.begin * call.element_bytes;
  std::byte* const output = meeting.output(call.root) + slice.begin * call.element_bytes;
  meeting.write_elsewhere();
  reduce(call.dtype, call.reduce, inputs, {&output, 1}, slice.count(), call.bytes() >= kPastCache);
}

void reduce_all(Meeting& meeting) {
  const Call& call = meeting.call();
  if (meeting.rank() != call.root) return;
  std::vector<const std::byte*> inputs(meeting.size());
  for (uint32_t i = 0; i < meeting.size(); ++i) inputs[i] = meeting.input(i);
  std::byte* const output = meeting.output(call.root);
  reduce(call.dtype, call.reduce, inputs, {&output, 1}, call.count, false);
}

}  // namespace

void reduce(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element,
            ReduceOp op, uint32_t root) {
  check_reduce(element, op);
  check_rank(communicator, root, "root");
  check_buffer(communicator, send, count, element, "sendBuf");
  const bool receives = communicator.rank() == root;
  if (receives) check_buffer(communicator, recv, count, element, "recvBuf");
  const Call call{Kind::kReduce, element.dtype, element.bytes, op, root, count};
  meet(communicator, lane, call, {send, call.bytes(), receives ? recv : nullptr, receives ? call.bytes() : 0}, {},
       [](Meeting& meeting) { meeting.small() ? reduce_all(meeting) : reduce_slice(meeting); });
}

}  // namespace npu::comm
