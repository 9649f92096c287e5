// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator/meeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/memory/memory.h"

namespace npu::comm {
namespace {

/// What a rank sends in all, if it sends anything.
uint64_t sent_bytes(const Call& call, uint32_t ranks) {
  return call.row().sends_parts ? call.bytes() * ranks : call.bytes();
}

// What was passed before a call comes before it; this is for what does not.
constexpr int64_t kAheadMs = 1000;

/// The call that most ranks make; of several, that of the lowest rank.
uint32_t typical(const std::vector<const Call*>& calls) {
  uint32_t best = 0;
  int64_t most = 0;
  for (uint32_t i = 0; i < calls.size(); ++i) {
    const auto same = std::ranges::count_if(calls, [&](const Call* each) { return fits(*calls[i], *each); });
    if (same > most) best = i, most = same;
  }
  return best;
}

Call with_order(Call call, const Order* order) {
  call.with_order = order != nullptr;
  return call;
}

}  // namespace

// A rank shows all that it sends. Where ranks share the work, only the full mesh is done in the posts.
bool is_small(const Call& call, uint32_t ranks, const Hosts* hosts) {
  const CollectiveDef& row = call.row();
  if (hosts != nullptr) return posted_between(row, call.bytes(), ranks, hosts->most());
  return row.posts && (!row.shares || call.algorithm == Algorithm::kFullMesh) &&
         sent_bytes(call, ranks) <= kInlineBytes;
}

Meeting::Meeting(Communicator& communicator, const Call& call, const Buffers& buffers, const Parts& parts)
    : communicator_(communicator),
      transport_(communicator.transport()),
      rank_(communicator.rank()),
      size_(communicator.size()),
      hosts_(transport_.hosts()),
      order_(Announcement::take(communicator.group().name)),
      call_(with_order(call, order_.get())),
      buffers_(buffers),
      parts_(parts),
      small_(is_small(call, size_, hosts_)),
      attendance_{transport_, !small_ || hosts_ != nullptr} {
  transport_.come(
      {call_, buffers_, parts_.sent, small_, sent_bytes(call_, size()), order_ ? std::string_view(order_->text()) : ""},
      !idle(), *this);
  if (!idle()) compare();
}

void Meeting::look_around(uint32_t whose, int64_t waited_ms) {
  if (hosts_ != nullptr && whose < size_) compare_far(whose, waited_ms);
  communicator_.look_around(waited_ms, whose, describe(call_));
}

// Who runs a function again, or makes a call outside of one, shows none, and is not compared.
void Meeting::compare_orders() {
  std::vector<std::pair<uint32_t, std::string>> shown;
  for (uint32_t i = 0; i < size(); ++i)
    if (std::string text = transport_.order_of(i); !text.empty()) shown.emplace_back(i, std::move(text));
  for (const auto& [rank, text] : shown) {
    const auto found = order_difference(shown.front().second, text);
    if (!found) continue;
    communicator_.end(
        Result::kParameter,
        fmt::format("EI0005: the collectives of function {} differ between ranks, at #{} of group '{}': {} "
                    "has {}, {} has {}. All ranks must make the same calls in the same order",
                    found->function, found->place, communicator_.group().name,
                    describe(communicator_.peer(shown.front().first)), found->one, describe(communicator_.peer(rank)),
                    found->other));
  }
}

void Meeting::compare() {
  bool same = !call_.with_order;
  for (const uint32_t each : here()) {
    const Call& other = transport_.call_of(each);
    same = same && (each == rank() || (!other.with_order && fits(other, call_)));
  }
  if (same) [[likely]]
    return;
  compare_orders();
  std::vector<const Call*> calls;
  for (const uint32_t each : here()) calls.push_back(&transport_.call_of(each));
  if (std::ranges::all_of(calls, [&](const Call* each) { return fits(*each, call_); })) return;
  const uint32_t most = typical(calls);
  const auto other = std::ranges::find_if(calls, [&](const Call* each) { return !fits(*each, *calls[most]); });
  differ(here()[most], *calls[most], here()[static_cast<size_t>(other - calls.begin())], **other);
}

// A rank of another host shows its call with what it passes, and every second.
void Meeting::compare_far(uint32_t other, int64_t waited_ms) {
  const Transport::Sight sight = transport_.sight(other);
  const auto ahead = static_cast<int32_t>(sight.calls - transport_.sight(rank_).calls);
  if (!sight.far || ahead < 0) return;
  if (ahead == 0 && !fits(sight.last, call_)) {  // the lower rank first: both say the same
    if (rank_ < other) differ(rank_, call_, other, sight.last);
    differ(other, sight.last, rank_, call_);
  }
  if (ahead == 0 || waited_ms < kAheadMs) return;
  communicator_.end(Result::kParameter,
                    fmt::format("EI0005: {} waits in {} for {}, which has gone on to call #{}, {}. All ranks must make "
                                "the same calls in the same order",
                                describe(communicator_.peer(rank_)), describe(call_),
                                describe(communicator_.peer(other)), sight.calls, describe(sight.last)));
}

void Meeting::differ(uint32_t one, const Call& its, uint32_t other, const Call& others) {
  communicator_.end(
      Result::kParameter,
      fmt::format("EI0005: call #{} differs between ranks: {} asks {}, {} asks {}; {}. All ranks must make the same "
                  "calls in the same order",
                  transport_.sight(rank()).calls, describe(communicator_.peer(one)), describe(its),
                  describe(communicator_.peer(other)), describe(others), difference(its, others)));
}

void Meeting::await_passed(uint32_t from, uint32_t step, uint64_t bytes, uint32_t whose) {
  const uint64_t passed = transport_.await_passed(from, step, *this);
  if (passed == bytes) [[likely]]
    return;
  refuse(whose == kNoRank ? from : whose,
         fmt::format("this rank expects {} elements of it, and it has {}", bytes / std::max(1u, call_.element_bytes),
                     passed / std::max(1u, call_.element_bytes)));
}

void Meeting::refuse(uint32_t other, const std::string& what) {
  communicator_.end(Result::kParameter,
                    fmt::format("EI0005: {} does not fit between {} and {}: {}", describe(call_),
                                describe(communicator_.peer(rank())), describe(communicator_.peer(other)), what));
}

std::byte* Meeting::output() const { return output({rank(), 0, buffers_.recv_bytes}); }

std::byte* Meeting::output(const Part& part) const {
  if (part.rank != rank_) Carried::add(rank_, part.rank, part.bytes);
  if (!small_) return transport_.write(part);
  return static_cast<std::byte*>(device::resolve(buffers_.recv, buffers_.recv_bytes)) + part.offset;
}

void Meeting::leave() {
  if (small_) return;
  // Nobody but the centre touches buffers of a star.
  transport_.leave(idle() ? call_.root : call_.algorithm == Algorithm::kStar ? kNoRank : kEveryRank);
}

}  // namespace npu::comm
