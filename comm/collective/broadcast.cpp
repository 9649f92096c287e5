// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/between.h"

namespace npu::comm {
namespace {

Work work(const Load& load) { return load.posted ? Work{4 * load.bytes, 0, 1} : Work{0, 2 * load.bytes, 2}; }

void take_all(Meeting& meeting) {
  const Call& call = meeting.call();
  if (meeting.rank() != call.root) meeting.take({call.root, 0, call.bytes()}, meeting.output());
}

/// Calls `body(from, to, slice)` for what the ranks of the root's host send to another: each a slice of bytes, which
/// the rank that gets it hands on; little data whole to each rank.
template <class F>
void each_slice(const Meeting& meeting, uint32_t host, F&& body) {
  const Hosts& hosts = *meeting.hosts();
  const uint64_t bytes = meeting.call().bytes();
  const uint32_t home = hosts.host_of[meeting.call().root];
  const std::vector<uint32_t>& from = hosts.ranks[home];
  const std::vector<uint32_t>& to = hosts.ranks[host];
  if (meeting.small())
    for (const uint32_t rank : to) body(hosts.server(home, rank), rank, Slice{0, bytes});
  else
    for (size_t i = 0; i < from.size(); ++i)
      body(from[i], to[i % to.size()], slice_of(bytes, static_cast<uint32_t>(from.size()), static_cast<uint32_t>(i)));
}

void send_slices(Meeting& meeting) {
  const Hosts& hosts = *meeting.hosts();
  for (uint32_t host = 0; host < hosts.count(); ++host) {
    if (host == hosts.host_of[meeting.rank()]) continue;
    each_slice(meeting, host, [&](uint32_t from, uint32_t to, const Slice& slice) {
      if (from != meeting.rank() || slice.count() == 0) return;
      meeting.pass(to, 0, sent_by(meeting, {meeting.call().root, slice.begin, slice.count()}), slice.count());
    });
  }
}

void take_slices(Meeting& meeting) {
  std::byte* const output = meeting.output();
  const auto each_own = [&](auto&& body) {
    each_slice(meeting, meeting.hosts()->host_of[meeting.rank()], [&](uint32_t from, uint32_t to, const Slice& slice) {
      if (to == meeting.rank() && slice.count() > 0) body(from, slice);
    });
  };
  each_own([&](uint32_t from, const Slice& slice) { meeting.expect(from, 0, output + slice.begin, slice.count()); });
  each_own([&](uint32_t from, const Slice& slice) {
    meeting.await_passed(from, 0, slice.count());
    if (!meeting.small()) hand_on(meeting, slice.begin, slice.count());
  });
}

void take_between(Meeting& meeting) {
  const Hosts& hosts = *meeting.hosts();
  if (hosts.host_of[meeting.rank()] != hosts.host_of[meeting.call().root]) return take_slices(meeting);
  send_slices(meeting);
  take_all(meeting);
}

Passed passed(const LoadBetween& load) {
  const double others = load.hosts - 1;
  return {1, others, others * load.bytes * (load.posted ? load.ranks : 1), 2 * load.bytes};
}

NPU_COLLECTIVE(kBroadcast, .id = 4, .name = "broadcast", .algo_word = "broadcast", .has_root = true, .work = work,
               .passed = passed, .body = take_all, .between = take_between);

}  // namespace

void broadcast(Communicator& communicator, Lane lane, void* buffer, uint64_t count, Element element, uint32_t root) {
  check_rank(communicator, root, "root");
  check_buffer(communicator, buffer, count, element, "buf");
  const Call call = call_of(kBroadcast, element, count, ReduceOp::kSum, root);
  const bool sends = communicator.rank() == root;
  meet(communicator, lane, call,
       {sends ? buffer : nullptr, sends ? call.bytes() : 0, sends ? nullptr : buffer, sends ? 0 : call.bytes()});
}

}  // namespace npu::comm
