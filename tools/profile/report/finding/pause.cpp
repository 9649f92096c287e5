// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/profile/report/finding/finding.h"

namespace npu::profile {
namespace {

/// The calls around the pause.
std::string place_of(const Trace& trace, Interval pause) {
  const auto next = std::ranges::lower_bound(trace.calls, pause.end, {}, &CallRecord::start);
  if (next == trace.calls.begin() || next == trace.calls.end()) return "at the ends";
  return fmt::format("between {} and {}", name_of(trace, *std::prev(next)), name_of(trace, *next));
}

constexpr const char* kCure =
    "load batches ahead (DataLoader with num_workers, prefetch of tf.data), and take logging, checkpoints and other "
    "Python out of the step";

/// What was computed last before `gap`, and what first after it, between which the data was away.
std::string operators_around(const Facts& facts, const Gap& gap) {
  const auto computed = [](const TaskRecord& task) { return computes(task); };
  const auto next = std::ranges::lower_bound(facts.tasks, gap.when.end, {}, &TaskRecord::start);
  const auto after = std::find_if(next, facts.tasks.end(), computed);
  const auto before = std::find_if(std::make_reverse_iterator(next), facts.tasks.rend(), computed);
  return fmt::format("between {} and {}", before == facts.tasks.rend() ? "" : facts.trace->text(before->type),
                     after == facts.tasks.end() ? "" : facts.trace->text(after->type));
}

}  // namespace

std::optional<Finding> pause_of(const Facts& facts) {
  std::vector<std::string> places;
  int64_t cost = 0;
  Interval all;  // at the start of a run alone it is the start, not the steps
  for (const Gap& gap : facts.idle.gaps) {
    if (gap.parts[Cause::kPause] == 0) continue;
    cost += gap.parts[Cause::kPause];
    if (places.empty()) all.start = gap.pause.start - facts.span.start;
    all.end = gap.pause.end - facts.span.start;
    places.push_back(place_of(*facts.trace, gap.pause));
  }
  if (places.empty()) return {};
  const int64_t mean = cost / static_cast<int64_t>(places.size());
  return Finding{
      .title = "the device waits for data: the host makes no call to the NPU",
      .cost = cost,
      .where = fmt::format("{} of {} ms on average, from {} to {} ms: {}", counted(places.size(), "pause"),
                           milliseconds(mean), milliseconds(all.start), milliseconds(all.end), commonest(places, 2)),
      .cure = kCure};
}

std::optional<Finding> round_trip_of(const Facts& facts) {
  std::vector<std::string> places;
  for (const Gap& gap : facts.idle.gaps)
    if (gap.parts[Cause::kRoundTrip] > 0) places.push_back(operators_around(facts, gap));
  if (places.empty()) return {};
  return Finding{.title = "data is copied to the host, computed with there, and copied back",
                 .cost = facts.idle.parts[Cause::kRoundTrip],
                 .where = fmt::format("{}: {}{}", counted(places.size(), "time"), commonest(places, 3),
                                      and_module(facts, Cause::kRoundTrip)),
                 .cure =
                     "anynpu run --report names operators that the NPU has not and their lines: call another one; "
                     "keep NumPy out of the step"};
}

}  // namespace npu::profile
