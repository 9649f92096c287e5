// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tools/profile/report/finding/finding.h"

namespace npu::profile {
namespace {

constexpr int64_t kShortestWait = 2'000;  // nanoseconds; a call that finds nothing to wait for returns at once

struct Waits {
  std::vector<std::string> names;
  std::vector<Weighted> lengths;
};

/// The calls in which the host waited while the device was at work.
Waits waits_of(const Facts& facts) {
  Intervals busy{facts.span};
  Intervals idle;
  for (const Gap& gap : facts.idle.gaps) idle.push_back(gap.when);
  busy = without(busy, idle);
  Waits waits;
  for (const CallRecord& call : facts.trace->calls) {
    const Purpose purpose = purpose_of(*facts.trace, call);
    if (purpose != Purpose::kWait && purpose != Purpose::kCopy) continue;
    const int64_t waited = length(inside(busy, {call.start, call.end}));
    if (waited < kShortestWait) continue;
    waits.names.push_back(name_of(*facts.trace, call));
    waits.lengths.push_back({facts.owners.of(call.thread, call.start), waited});
  }
  return waits;
}

}  // namespace

std::optional<Finding> wait_of(const Facts& facts) {
  const auto [names, lengths] = waits_of(facts);
  if (names.empty()) return {};
  return Finding{.title = "the host waits for results, and the device then for the host",
                 .cost = facts.idle.parts[Cause::kWait],
                 .where = fmt::format("{} waited: {}{}", counted(names.size(), "call"), commonest(names, 3),
                                      and_module(facts, lengths)),
                 .cure =
                     "take .item(), .cpu(), print(loss) and `if tensor:` out of the step, or read results every "
                     "hundredth step; copy with non_blocking=True from pinned memory"};
}

}  // namespace npu::profile
