// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "tools/profile/report/finding/finding.h"

namespace npu::profile {
namespace {

constexpr const char* kCure =
    "look at this rank's own page (what else it computes, loads or prints), give all ranks the same work and cores";

struct Meeting {
  size_t comers = 0, last = 0;  ///< the last one to come waits least
  int64_t least = 0, most = 0;  ///< that one of them waited
};

/// Collectives by what is the same on all ranks: communicator, number, type.
using Meetings = std::map<std::tuple<std::string_view, uint32_t, std::string_view>, Meeting>;

void meet(Meeting& meeting, size_t rank, int64_t waited) {
  if (meeting.comers == 0 || waited < meeting.least) meeting.last = rank, meeting.least = waited;
  meeting.most = std::max(meeting.most, waited);
  ++meeting.comers;
}

Meetings meetings_of(std::span<const Facts> all) {
  Meetings meetings;
  for (size_t rank = 0; rank < all.size(); ++rank)
    for (const TaskRecord& task : all[rank].tasks)
      if (is_collective(task)) {
        const Trace& trace = *all[rank].trace;
        meet(meetings[{trace.text(task.graph), task.step, trace.text(task.type)}], rank, task.waited);
      }
  return meetings;
}

/// For whom others waited, by rank: the time of the one that waited longest each time, and how often.
std::vector<Total> waits_for(std::span<const Facts> all) {
  std::vector<Total> found(all.size());
  for (const auto& [key, meeting] : meetings_of(all))
    if (meeting.comers > 1) found[meeting.last].add(meeting.most);
  return found;
}

/// Of one rank nobody can tell whom it waited for.
std::optional<Finding> waiting_of(const Facts& facts) {
  return Finding{.title = "this rank waits for others in collectives",
                 .cost = facts.waited,
                 .share = facts.share(facts.waited),
                 .where = facts.name,
                 .cure = "profile all ranks (anynpu profile -n …): the page then names the one that comes late"};
}

}  // namespace

std::optional<Finding> straggler_of(std::span<const Facts> all) {
  if (all.size() == 1) return waiting_of(all.front());
  const std::vector<Total> waits = waits_for(all);
  const auto most = std::ranges::max_element(waits, {}, &Total::time);
  if (most == waits.end() || most->count == 0) return {};
  const Facts& late = all[static_cast<size_t>(most - waits.begin())];
  return Finding{.title = fmt::format("other ranks wait for {}", late.name),
                 .cost = most->time,
                 .share = late.share(most->time),
                 .where = fmt::format("it came last to {}; the longest wait was {} ms",
                                      counted(most->count, "collective"), milliseconds(most->most)),
                 .cure = kCure};
}

}  // namespace npu::profile
