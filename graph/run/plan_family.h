// SPDX-License-Identifier: Apache-2.0
// How many plans a function and all that continues it may keep. Each plan that ends early has a continuation with plans
// of its own: by themselves they would multiply with every size that only a run tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace npu::graph {

struct PlanEntry;

class PlanFamily {
 public:
  /// `entry` is about to get a frame: plans that were not used for longest lose theirs where frames take much memory,
  /// and go where there are too many plans.
  void make_room(const std::shared_ptr<PlanEntry>& entry);
  /// Plans there are.
  size_t size();

 private:
  /// Those still there, the last used first.
  std::vector<std::shared_ptr<PlanEntry>> living();

  std::mutex mutex_;
  std::vector<std::weak_ptr<PlanEntry>> entries_;
};

}  // namespace npu::graph
