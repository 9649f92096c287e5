// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator/meeting.h"

#include <fmt/format.h>

#include <algorithm>

#include "device/memory/memory.h"

namespace npu::comm {
namespace {

/// What a rank sends in all, if it sends anything.
uint64_t sent_bytes(const Call& call, uint32_t ranks) {
  return call.row().sends_parts ? call.bytes() * ranks : call.bytes();
}

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

}  // namespace

// A rank shows all that it sends. Where ranks share the work, only the full mesh is done in the posts.
bool is_small(const Call& call, uint32_t ranks) {
  const CollectiveDef& row = call.row();
  return row.posts && (!row.shares || call.algorithm == Algorithm::kFullMesh) &&
         sent_bytes(call, ranks) <= kInlineBytes;
}

Meeting::Meeting(Communicator& communicator, const Call& call, const Buffers& buffers, const Parts& parts)
    : communicator_(communicator),
      transport_(communicator.transport()),
      rank_(communicator.rank()),
      size_(communicator.size()),
      call_(call),
      buffers_(buffers),
      parts_(parts),
      small_(is_small(call, size_)),
      attendance_{transport_, small_} {
  transport_.come({call_, buffers_, parts_.sent, small_, sent_bytes(call_, size())}, !idle(), *this);
  if (!idle()) compare();
}

void Meeting::look_around(uint32_t whose, int64_t waited_ms) {
  communicator_.look_around(waited_ms, whose, describe(call_));
}

void Meeting::compare() {
  bool same = true;
  for (uint32_t i = 0; i < size(); ++i) same = same && (i == rank() || fits(transport_.call_of(i), call_));
  if (same) [[likely]]
    return;
  std::vector<const Call*> calls(size());
  for (uint32_t i = 0; i < size(); ++i) calls[i] = &transport_.call_of(i);
  const uint32_t most = typical(calls);
  const auto other = std::ranges::find_if(calls, [&](const Call* each) { return !fits(*each, *calls[most]); });
  const auto culprit = static_cast<uint32_t>(other - calls.begin());
  communicator_.end(
      Result::kParameter,
      fmt::format("EI0005: call #{} differs between ranks: {} asks {}, {} asks {}; {}. All ranks must make the same "
                  "calls in the same order",
                  transport_.sight(rank()).calls, describe(communicator_.peer(most)), describe(*calls[most]),
                  describe(communicator_.peer(culprit)), describe(**other), difference(*calls[most], **other)));
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
