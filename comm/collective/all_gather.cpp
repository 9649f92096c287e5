// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "comm/collective/check.h"
#include "comm/core/reduce.h"

namespace npu::comm {
namespace {

// Each rank begins with its own part, so that they do not all read the same memory.
template <class F>
void each_rank(Meeting& meeting, F&& body) {
  for (uint32_t i = 0; i < meeting.size(); ++i) body((meeting.rank() + i) % meeting.size());
}

}  // namespace

void all_gather(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element) {
  check_buffer(communicator, send, count, element, "sendBuf");
  const uint64_t all = count * communicator.size();
  check_buffer(communicator, recv, all, element, "recvBuf");
  const Call call{Kind::kAllGather, element.dtype, element.bytes, ReduceOp::kSum, 0, {}, count};
  meet(communicator, lane, call, {send, call.bytes(), recv, all * element.bytes}, {}, [](Meeting& meeting) {
    std::byte* const output = meeting.output(meeting.rank());
    const uint64_t bytes = meeting.call().bytes();
    if (bytes == 0) return;
    each_rank(meeting, [&](uint32_t from) { copy(output + from * bytes, meeting.input(from), bytes); });
  });
}

void all_gather_v(Communicator& communicator, Lane lane, const void* send, uint64_t count, void* recv,
                  std::vector<Extent> parts, Element element) {
  check_buffer(communicator, send, count, element, "sendBuf");
  const uint64_t all = check_parts(communicator, recv, parts, element, "recvBuf");
  const Call call{Kind::kAllGatherV, element.dtype, element.bytes, ReduceOp::kSum, 0, {}, count};
  meet(communicator, lane, call, {send, call.bytes(), recv, all * element.bytes}, {},
       [parts = std::move(parts)](Meeting& meeting) {
         std::byte* const output = meeting.output(meeting.rank());
         const uint64_t unit = meeting.call().element_bytes;
         each_rank(meeting, [&](uint32_t from) {
           if (const uint64_t sent = meeting.sent(from); sent != parts[from].count)
             meeting.refuse(from,
                            fmt::format("recvCounts[{}] is {}, and that rank sends {}", from, parts[from].count, sent));
           if (parts[from].count > 0)
             copy(output + parts[from].offset * unit, meeting.input(from), parts[from].count * unit);
         });
       });
}

}  // namespace npu::comm
