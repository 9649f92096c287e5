// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "comm/collective/check.h"
#include "comm/core/reduce.h"

namespace npu::comm {
namespace {

void reduce_part(Meeting& meeting, const Extent& part) {
  if (part.count == 0) return;
  const Call& call = meeting.call();
  const auto inputs = inputs_from(meeting, part.offset);
  std::byte* const output = meeting.output(meeting.rank());
  reduce(call.dtype, call.reduce, {inputs.data(), meeting.size()}, {&output, 1}, part.count, past_cache(meeting));
}

void compare_parts(Meeting& meeting) {
  const Extent* own = meeting.extents(meeting.rank());
  for (uint32_t other = 0; other < meeting.size(); ++other)
    for (uint32_t i = 0; i < meeting.size(); ++i)
      if (meeting.extents(other)[i].count != own[i].count)
        meeting.refuse(other,
                       fmt::format("sendCounts[{}] is {} and {}", i, own[i].count, meeting.extents(other)[i].count));
}

}  // namespace

void reduce_scatter(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count,
                    Element element, ReduceOp op) {
  check_reduce(element, op);
  check_buffer(communicator, recv, count, element, "recvBuf");
  const uint64_t all = count * communicator.size();
  check_buffer(communicator, send, all, element, "sendBuf");
  const Call call{Kind::kReduceScatter, element.dtype, element.bytes, op, 0, {}, count};
  meet(communicator, lane, call, {send, all * element.bytes, recv, call.bytes()}, {},
       [](Meeting& meeting) { reduce_part(meeting, {meeting.rank() * meeting.call().count, meeting.call().count}); });
}

void reduce_scatter_v(Communicator& communicator, Lane lane, const void* send, std::vector<Extent> parts, void* recv,
                      uint64_t count, Element element, ReduceOp op) {
  check_reduce(element, op);
  const uint64_t all = check_parts(communicator, send, parts, element, "sendBuf");
  check_buffer(communicator, recv, count, element, "recvBuf");
  const uint32_t rank = communicator.rank();
  if (parts[rank].count != count)
    fault(Result::kParameter, "EI0003: recvCount is {}, but sendCounts[{}], this rank's, is {}", count, rank,
          parts[rank].count);
  const Call call{Kind::kReduceScatterV, element.dtype, element.bytes, op, 0, {}, count};
  meet(communicator, lane, call, {send, all * element.bytes, recv, call.bytes()}, std::move(parts),
       [](Meeting& meeting) {
         compare_parts(meeting);
         // Ranks may place the parts differently: each input has its own offset.
         const Call& asked = meeting.call();
         if (asked.count == 0) return;
         PerRank<const std::byte*> inputs;
         for (uint32_t i = 0; i < meeting.size(); ++i)
           inputs[i] = meeting.input(i) + meeting.extents(i)[meeting.rank()].offset * asked.element_bytes;
         std::byte* const output = meeting.output(meeting.rank());
         reduce(asked.dtype, asked.reduce, {inputs.data(), meeting.size()}, {&output, 1}, asked.count,
                past_cache(meeting));
       });
}

}  // namespace npu::comm
