// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "comm/collective/check.h"

namespace npu::comm {
namespace {

// Each rank begins with its own part, so that they do not all read the same memory.
template <class F>
void each_rank(Meeting& meeting, F&& body) {
  for (uint32_t i = 0; i < meeting.size(); ++i) body((meeting.rank() + i) % meeting.size());
}

void take_equal(Meeting& meeting) {
  std::byte* const output = meeting.output();
  const uint64_t bytes = meeting.call().bytes();
  if (bytes == 0) return;
  each_rank(meeting, [&](uint32_t from) { meeting.take({from, 0, bytes}, output + from * bytes); });
}

void take_unequal(Meeting& meeting) {
  std::byte* const output = meeting.output();
  const uint64_t unit = meeting.call().element_bytes;
  each_rank(meeting, [&](uint32_t from) {
    const Extent& part = meeting.received(from);
    if (const uint64_t sent = meeting.sent(from); sent != part.count)
      meeting.refuse(from, fmt::format("recvCounts[{}] is {}, and that rank sends {}", from, part.count, sent));
    if (part.count > 0) meeting.take({from, 0, part.count * unit}, output + part.offset * unit);
  });
}

Work work(const Load& load) {
  return load.posted ? Work{2 * load.bytes * (load.ranks + 1), 0, 1} : Work{0, 2 * load.bytes * load.ranks, 2};
}

NPU_COLLECTIVE(kAllGather, .id = 1, .name = "all_gather", .algo_word = "allgather", .receives_parts = true,
               .work = work, .body = take_equal);
NPU_COLLECTIVE(kAllGatherV, .id = 8, .name = "all_gather_v", .counts_agree = false, .posts = false,
               .receives_parts = true, .body = take_unequal);

}  // namespace

void all_gather(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element) {
  check_buffer(communicator, send, count, element, "sendBuf");
  const uint64_t all = count * communicator.size();
  check_buffer(communicator, recv, all, element, "recvBuf");
  const Call call = call_of(kAllGather, element, count);
  meet(communicator, lane, call, {send, call.bytes(), recv, all * element.bytes});
}

void all_gather_v(Communicator& communicator, Lane lane, const void* send, uint64_t count, void* recv,
                  std::vector<Extent> parts, Element element) {
  check_buffer(communicator, send, count, element, "sendBuf");
  const uint64_t all = check_parts(communicator, recv, parts, element, "recvBuf");
  const Call call = call_of(kAllGatherV, element, count);
  meet(communicator, lane, call, {send, call.bytes(), recv, all * element.bytes}, {{}, std::move(parts)});
}

}  // namespace npu::comm
