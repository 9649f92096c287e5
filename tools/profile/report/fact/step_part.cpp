// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/step_part.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

namespace npu::profile {
namespace {

int64_t within(Interval one, Interval part) {
  return std::max<int64_t>(0, std::min(one.end, part.end) - std::max(one.start, part.start));
}

using Times = std::map<std::string, int64_t>;

/// Of what runs in `part`, which may begin before it and end after it.
void add_tasks(Times& times, int64_t sign, const Trace& trace, const std::vector<TaskRecord>& tasks, Interval part) {
  for (const TaskRecord& task : tasks)
    if (const int64_t time = within({task.start, task.end}, part); time > 0)
      times[std::string(trace.text(task.type))] += sign * time;
}

/// A gap that goes on beyond `part` counts by how much of it is inside.
void add_idle(Times& times, int64_t sign, const Idle& idle, Interval part) {
  for (const Gap& gap : idle.gaps) {
    const int64_t time = within(gap.when, part), all = gap.when.end - gap.when.start;
    if (time == 0) continue;
    for (size_t i = 0; i < kCauses; ++i)
      if (const auto cause = static_cast<Cause>(i); gap.parts[cause] > 0)
        times["idle: " + std::string(words_of(cause))] +=
            sign * static_cast<int64_t>(static_cast<double>(gap.parts[cause]) * static_cast<double>(time) /
                                        static_cast<double>(all));
  }
}

}  // namespace

std::vector<StepPart> step_parts_of(const std::vector<Step>& steps, const Overlap& overlap, const Idle& idle) {
  Intervals gaps;
  for (const Gap& gap : idle.gaps) gaps.push_back(gap.when);
  std::vector<StepPart> parts;
  for (const Step& step : steps) {
    StepPart part{.number = step.number, .when = {parts.empty() ? step.forward : parts.back().when.end, step.end}};
    if (part.when.end <= part.when.start) continue;  // inside of another one: they run at once
    part.computing = length(inside(overlap.computing, part.when));
    part.communication = length(inside(overlap.communication_alone, part.when));
    part.idle = length(inside(gaps, part.when));
    part.copies = std::max<int64_t>(0, part.length() - part.computing - part.communication - part.idle);
    parts.push_back(part);
  }
  return parts;
}

const StepPart& median_of(const std::vector<StepPart>& parts) {
  std::vector<const StepPart*> sorted;
  for (const StepPart& part : parts) sorted.push_back(&part);
  std::ranges::stable_sort(sorted, {}, &StepPart::length);
  return *sorted[sorted.size() / 2];
}

const StepPart& slowest_of(const std::vector<StepPart>& parts) {
  return *std::ranges::max_element(parts, {}, &StepPart::length);
}

std::vector<More> more_in(const Trace& trace, const std::vector<TaskRecord>& tasks, const Idle& idle, Interval slow,
                          Interval usual) {
  Times times;
  for (const auto& [part, sign] : {std::pair(slow, 1), std::pair(usual, -1)}) {
    add_tasks(times, sign, trace, tasks, part);
    add_idle(times, sign, idle, part);
  }
  std::vector<More> more;
  for (const auto& [what, time] : times)
    if (time > 0) more.push_back({what, time});
  std::ranges::stable_sort(more, std::greater<>(), &More::time);
  return more;
}

}  // namespace npu::profile
