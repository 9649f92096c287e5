// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "comm/collective/between.h"

namespace npu::comm {
namespace {

void take_from(Meeting& meeting, uint32_t from, std::byte* output) {
  const uint64_t unit = meeting.call().element_bytes;
  const Extent& sent = meeting.extents(from)[meeting.rank()];
  const Extent& received = meeting.received(from);
  if (sent.count != received.count)
    meeting.refuse(from,
                   fmt::format("this rank receives {} elements, and that rank sends {}", received.count, sent.count));
  if (sent.count > 0) meeting.take({from, sent.offset * unit, sent.count * unit}, output + received.offset * unit);
}

void take_unequal(Meeting& meeting) {
  std::byte* const output = meeting.output();
  for (uint32_t i = 0; i < meeting.size(); ++i) take_from(meeting, (meeting.rank() + i) % meeting.size(), output);
}

// Equal parts need not be shown.
void take_equal(Meeting& meeting) {
  const uint64_t bytes = meeting.call().bytes();
  if (bytes == 0) return;
  std::byte* const output = meeting.output();
  for (uint32_t i = 0; i < meeting.size(); ++i) {
    const uint32_t from = (meeting.rank() + i) % meeting.size();
    meeting.take({from, meeting.rank() * bytes, bytes}, output + from * bytes);
  }
}

/// Sends what this host's ranks have for those that this one serves, gets the same for this one, and takes what its
/// host has. `sent(from, to)` and `received(from)` are in elements.
template <class Sent, class Received, class Take>
void take_between(Meeting& meeting, Sent&& sent, Received&& received, Take&& take) {
  const Hosts& hosts = *meeting.hosts();
  const uint64_t unit = meeting.call().element_bytes;
  std::byte* const output = meeting.output();
  const auto each_far = [&](auto&& body) {
    each_server(meeting, [&](uint32_t server) {
      for (const uint32_t from : hosts.ranks[hosts.host_of[server]]) body(server, hosts.place_of[from], from);
    });
  };
  each_far([&](uint32_t server, uint32_t step, uint32_t from) {
    const Extent part = received(from);
    meeting.expect(server, step, output + part.offset * unit, part.count * unit);
  });
  each_served(meeting, [&](uint32_t to) {
    for (const uint32_t from : meeting.here()) {
      const Extent part = sent(from, to);
      const uint64_t bytes = part.count * unit;
      meeting.pass(to, hosts.place_of[from], sent_by(meeting, {from, part.offset * unit, bytes}), bytes);
    }
  });
  for (const uint32_t from : meeting.here()) take(from);
  each_far([&](uint32_t server, uint32_t step, uint32_t from) {
    meeting.await_passed(server, step, received(from).count * unit, from);
  });
}

void take_unequal_between(Meeting& meeting) {
  std::byte* const output = meeting.output();
  take_between(
      meeting, [&](uint32_t from, uint32_t to) { return meeting.extents(from)[to]; },
      [&](uint32_t from) { return meeting.received(from); }, [&](uint32_t from) { take_from(meeting, from, output); });
}

void take_equal_between(Meeting& meeting) {
  const uint64_t count = meeting.call().count, bytes = meeting.call().bytes();
  if (bytes == 0) return;
  std::byte* const output = meeting.output();
  take_between(
      meeting, [&](uint32_t, uint32_t to) { return Extent{to * count, count}; },
      [&](uint32_t from) { return Extent{from * count, count}; },
      [&](uint32_t from) { meeting.take({from, meeting.rank() * bytes, bytes}, output + from * bytes); });
}

Work work(const Load& load) {
  return load.posted ? Work{4 * load.bytes * load.ranks, 0, 1} : Work{0, 2 * load.bytes * load.ranks, 2};
}

Passed passed(const LoadBetween& load) {
  const double messages = (load.hosts - 1) * load.ranks;
  return {1, messages, load.ranks * messages * load.bytes, 2 * load.ranks * load.bytes};
}

NPU_COLLECTIVE(kAllToAll, .id = 7, .name = "all_to_all", .algo_word = "alltoall", .sends_parts = true,
               .receives_parts = true, .work = work, .passed = passed, .body = take_equal,
               .between = take_equal_between);
NPU_COLLECTIVE(kAllToAllV, .id = 10, .name = "all_to_all_v", .counts_agree = false, .posts = false, .sends_parts = true,
               .receives_parts = true, .body = take_unequal, .between = take_unequal_between);
NPU_COLLECTIVE(kAllToAllVC, .id = 11, .name = "all_to_all_vc", .posts = false, .sends_parts = true,
               .receives_parts = true, .body = take_unequal, .between = take_unequal_between);

void check_different(const void* send, const void* recv, const CollectiveDef& row) {
  if (send == recv && send != nullptr)
    fault(Result::kParameter, "EI0003: sendBuf and recvBuf are the same; {} needs two buffers", row.name);
}

void queue(Communicator& communicator, Lane lane, const CollectiveDef& row, const void* send, void* recv, Parts parts,
           Element element) {
  check_different(send, recv, row);
  const uint64_t outgoing = check_parts(communicator, send, parts.sent, element, "sendBuf");
  const uint64_t incoming = check_parts(communicator, recv, parts.received, element, "recvBuf");
  meet(communicator, lane, call_of(row, element, 0), {send, outgoing * element.bytes, recv, incoming * element.bytes},
       std::move(parts));
}

}  // namespace

void all_to_all(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element) {
  check_different(send, recv, kAllToAll);
  if (count > UINT64_MAX / communicator.size())
    fault(Result::kParameter, "EI0003: a part has {} elements, more than memory can hold", count);
  const uint64_t all = count * communicator.size();
  check_buffer(communicator, send, all, element, "sendBuf");
  check_buffer(communicator, recv, all, element, "recvBuf");
  meet(communicator, lane, call_of(kAllToAll, element, count), {send, all * element.bytes, recv, all * element.bytes});
}

void all_to_all_v(Communicator& communicator, Lane lane, const void* send, std::vector<Extent> sent, void* recv,
                  std::vector<Extent> received, Element element) {
  queue(communicator, lane, kAllToAllV, send, recv, {std::move(sent), std::move(received)}, element);
}

void all_to_all_vc(Communicator& communicator, Lane lane, const void* send, std::span<const uint64_t> matrix,
                   void* recv, Element element) {
  const uint32_t size = communicator.size(), rank = communicator.rank();
  std::vector<Extent> sent(size), received(size);
  uint64_t sent_before = 0, received_before = 0;
  for (uint32_t i = 0; i < size; ++i) {
    sent[i] = {sent_before, matrix[size_t{rank} * size + i]};
    received[i] = {received_before, matrix[size_t{i} * size + rank]};
    sent_before += sent[i].count;
    received_before += received[i].count;
  }
  queue(communicator, lane, kAllToAllVC, send, recv, {std::move(sent), std::move(received)}, element);
}

}  // namespace npu::comm
