// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "tools/profile/report/finding/finding.h"

namespace npu::profile {
namespace {

int64_t median(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

int64_t median_time(const Facts& facts) {
  std::vector<int64_t> times;
  for (const TaskRecord& task : facts.tasks) times.push_back(task.end - task.start);
  return median(std::move(times));
}

/// From one operator to the next where the device waited for the host.
int64_t median_interval(const Facts& facts, Cause cause) {
  std::vector<int64_t> times;
  for (const Gap& gap : facts.idle.gaps)
    if (gap.parts[cause] > 0) times.push_back(gap.parts[cause]);
  return median(std::move(times));
}

std::string us(int64_t nanoseconds) { return fmt::format("{:.1f} us", static_cast<double>(nanoseconds) / 1e3); }

std::string types_after_gaps(const Facts& facts, Cause cause) {
  std::vector<std::string> types;
  for (const Gap& gap : facts.idle.gaps)
    if (gap.parts[cause] > 0) types.emplace_back(facts.trace->text(gap.next->type));
  return commonest(types, 3);
}

}  // namespace

std::optional<Finding> small_operators_of(const Facts& facts) {
  const int64_t cost = facts.idle.parts[Cause::kQueue];
  const int64_t time = median_time(facts), interval = median_interval(facts, Cause::kQueue);
  const bool small = time < interval;
  return Finding{.title = small ? "many small operators: the host needs longer to queue one than the device to run it"
                                : "the device waits for the host to queue the next operator",
                 .cost = cost,
                 .where = fmt::format("{} operators of {} (median), {} of the host before the next: {}{}",
                                      facts.tasks.size(), us(time), us(interval),
                                      types_after_gaps(facts, Cause::kQueue), and_module(facts, Cause::kQueue)),
                 .cure =
                     "one operator over all elements in place of many over parts: larger batches, foreach or fused "
                     "optimizers, stacked tensors; or a graph (tf.function, NPUGraph), which is queued once"};
}

std::optional<Finding> late_starts_of(const Facts& facts) {
  return Finding{.title = "operators that are queued begin late",
                 .cost = facts.idle.parts[Cause::kStart],
                 .where = fmt::format("{} before each (median): {}{}", us(median_interval(facts, Cause::kStart)),
                                      types_after_gaps(facts, Cause::kStart), and_module(facts, Cause::kStart)),
                 .cure =
                     "fewer and larger operators; fewer cores taken by others: the device's threads share them "
                     "with the host's (ANYNPU_THREADS)"};
}

std::optional<Finding> copies_of(const Facts& facts) {
  return Finding{.title = "the device waits while the host copies to or from it",
                 .cost = facts.idle.parts[Cause::kCopy],
                 .where = "aclrtMemcpy and its siblings" + and_module(facts, Cause::kCopy),
                 .cure =
                     "copy ahead: pinned memory and non_blocking=True; make on the device what is made there "
                     "anyway (torch.zeros(…, device='npu'))"};
}

}  // namespace npu::profile
