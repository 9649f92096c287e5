// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/trace/interval.h"

#include <algorithm>
#include <utility>

namespace npu::profile {

Intervals merged(Intervals intervals) {
  std::ranges::sort(intervals, {}, &Interval::start);
  Intervals out;
  for (const Interval& one : intervals) {
    if (out.empty() || one.start > out.back().end)
      out.push_back(one);
    else
      out.back().end = std::max(out.back().end, one.end);
  }
  return out;
}

Intervals without(const Intervals& whole, const Intervals& taken) {
  Intervals out;
  auto next = taken.begin();
  for (const Interval& one : whole) {
    int64_t from = one.start;
    while (next != taken.end() && next->end <= from) ++next;
    for (auto at = next; at != taken.end() && at->start < one.end; ++at) {
      if (at->start > from) out.push_back({from, at->start});
      from = std::max(from, at->end);
    }
    if (from < one.end) out.push_back({from, one.end});
  }
  return out;
}

Overlap overlap_of(Intervals computing, Intervals communication) {
  Overlap found;
  found.computing = merged(std::move(computing));
  found.communication = merged(std::move(communication));
  found.communication_alone = without(found.communication, found.computing);
  Intervals busy = found.computing;
  busy.insert(busy.end(), found.communication.begin(), found.communication.end());
  busy = merged(std::move(busy));
  if (!busy.empty()) found.free = without({{busy.front().start, busy.back().end}}, busy);
  return found;
}

Overlap overlap_of(const std::vector<TaskRecord>& tasks) {
  Intervals computing, communication;
  for (const TaskRecord& task : tasks) {
    if (computes(task)) computing.push_back({task.start, task.end});
    if (is_collective(task)) communication.push_back({task.start, task.end});
  }
  return overlap_of(std::move(computing), std::move(communication));
}

}  // namespace npu::profile
