// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "comm/collective/between.h"

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

void take_from(Meeting& meeting, uint32_t from, std::byte* output) {
  const uint64_t unit = meeting.call().element_bytes;
  const Extent& part = meeting.received(from);
  if (const uint64_t sent = meeting.sent(from); sent != part.count)
    meeting.refuse(from, fmt::format("recvCounts[{}] is {}, and that rank sends {}", from, part.count, sent));
  if (part.count > 0) meeting.take({from, 0, part.count * unit}, output + part.offset * unit);
}

void take_unequal(Meeting& meeting) {
  std::byte* const output = meeting.output();
  each_rank(meeting, [&](uint32_t from) { take_from(meeting, from, output); });
}

// Little data: a rank gets that of another host from one of its ranks, and nobody hands on.
void take_shown(Meeting& meeting) {
  const Hosts& hosts = *meeting.hosts();
  const uint64_t bytes = meeting.call().bytes();
  std::byte* const output = meeting.output();
  std::vector<std::byte*> blocks(hosts.count());
  each_server(meeting, [&](uint32_t from) {
    const uint32_t host = hosts.host_of[from];
    blocks[host] = meeting.scratch(hosts.ranks[host].size() * bytes);
    meeting.expect(from, 0, blocks[host], hosts.ranks[host].size() * bytes);
  });
  std::byte* const own = meeting.scratch(meeting.here().size() * bytes);
  for (size_t i = 0; i < meeting.here().size(); ++i)
    std::memcpy(own + i * bytes, sent_by(meeting, {meeting.here()[i], 0, bytes}), bytes);
  each_served(meeting, [&](uint32_t to) { meeting.pass(to, 0, own, meeting.here().size() * bytes); });
  blocks[hosts.host_of[meeting.rank()]] = own;
  each_server(meeting,
              [&](uint32_t from) { meeting.await_passed(from, 0, hosts.ranks[hosts.host_of[from]].size() * bytes); });
  for (uint32_t rank = 0; rank < meeting.size(); ++rank)
    std::memcpy(output + rank * bytes, blocks[hosts.host_of[rank]] + hosts.place_of[rank] * bytes, bytes);
}

// What a rank sends goes to one rank of every other host, which hands it on.
void take_equal_between(Meeting& meeting) {
  const uint64_t bytes = meeting.call().bytes();
  if (bytes == 0) return;
  if (meeting.small()) return take_shown(meeting);
  std::byte* const output = meeting.output();
  each_served(meeting, [&](uint32_t from) { meeting.expect(from, 0, output + from * bytes, bytes); });
  const std::byte* const own = sent_by(meeting, {meeting.rank(), 0, bytes});
  each_server(meeting, [&](uint32_t to) { meeting.pass(to, 0, own, bytes); });
  for (const uint32_t from : meeting.here()) meeting.take({from, 0, bytes}, output + from * bytes);
  each_served(meeting, [&](uint32_t from) {
    meeting.await_passed(from, 0, bytes);
    hand_on(meeting, from * bytes, bytes);
  });
}

// Each rank has places of its own for what others send: they send it to all.
void take_unequal_between(Meeting& meeting) {
  const Hosts& hosts = *meeting.hosts();
  const uint64_t unit = meeting.call().element_bytes, bytes = meeting.call().bytes();
  std::byte* const output = meeting.output();
  const auto each_far = [&](auto&& body) {
    for (uint32_t rank = 0; rank < meeting.size(); ++rank)
      if (hosts.host_of[rank] != hosts.host_of[meeting.rank()]) body(rank);
  };
  each_far([&](uint32_t from) {
    const Extent& part = meeting.received(from);
    meeting.expect(from, 0, output + part.offset * unit, part.count * unit);
  });
  const std::byte* const own = sent_by(meeting, {meeting.rank(), 0, bytes});
  each_far([&](uint32_t to) { meeting.pass(to, 0, own, bytes); });
  for (const uint32_t from : meeting.here()) take_from(meeting, from, output);
  each_far([&](uint32_t from) { meeting.await_passed(from, 0, meeting.received(from).count * unit); });
}

Work work(const Load& load) {
  return load.posted ? Work{2 * load.bytes * (load.ranks + 1), 0, 1} : Work{0, 2 * load.bytes * load.ranks, 2};
}

Passed passed(const LoadBetween& load) {
  const double others = load.hosts - 1, bytes = load.ranks * load.bytes;  // of a host
  if (load.posted) return {1, others, load.ranks * others * bytes, 2 * bytes * (load.hosts + 1)};
  return {1, others, others * bytes, 2 * bytes + 2 * others * (load.ranks - 1) * load.bytes};
}

NPU_COLLECTIVE(kAllGather, .id = 1, .name = "all_gather", .algo_word = "allgather", .receives_parts = true,
               .work = work, .passed = passed, .body = take_equal, .between = take_equal_between);
NPU_COLLECTIVE(kAllGatherV, .id = 8, .name = "all_gather_v", .counts_agree = false, .posts = false,
               .receives_parts = true, .body = take_unequal, .between = take_unequal_between);

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
