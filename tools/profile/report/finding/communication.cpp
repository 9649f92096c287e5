// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "tools/profile/report/finding/finding.h"

namespace npu::profile {

std::optional<Finding> communication_of(const Facts& facts) {
  std::vector<std::string> types;
  for (const TaskRecord& task : facts.tasks)
    if (is_collective(task)) types.emplace_back(facts.trace->text(task.type));
  if (types.empty()) return {};
  const int64_t alone = length(facts.overlap.communication_alone), all = length(facts.overlap.communication);
  return Finding{.title = "collectives move data while nothing is computed",
                 .cost = std::max<int64_t>(0, alone - facts.waited),
                 .where = fmt::format("{} of {} ms are not overlapped: {}", milliseconds(alone), milliseconds(all),
                                      commonest(types, 3)),
                 .cure =
                     "reduce gradients in buckets while the backward pass runs (DistributedDataParallel), or "
                     "less often (no_sync, gradient accumulation)"};
}

}  // namespace npu::profile
