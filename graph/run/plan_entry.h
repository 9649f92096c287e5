// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "graph/plan/plan.h"
#include "graph/run/frame.h"

namespace npu::graph {

class Executable;
struct PlanEntry;

/// Who keeps plans, and forgets them when a family has too many.
class PlanOwner {
 public:
  static constexpr size_t kMostPlans = 32;  ///< of one function or continuation; the least recently used goes first
  virtual ~PlanOwner() = default;
  /// Forgets a plan, or its frames; runs of it go on.
  virtual void drop(PlanEntry& entry) = 0;
  virtual void drop_frames(PlanEntry& entry) = 0;
};

/// A plan for arguments of certain traits, and the frames that wait for their next run.
struct PlanEntry {
  std::string key;
  std::vector<std::string> made_for;  ///< the arguments in words
  std::vector<std::string> shapes;    ///< the same without elements
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<Executable> rest;  ///< what comes after the plan; null when it goes to the end
  std::weak_ptr<PlanOwner> owner;
  size_t depth = 0;               ///< how many plans come before it in a run
  std::atomic<int64_t> used = 0;  ///< when, in calls of the process
  bool in_family = false;         ///< written by the family
  bool dropped = false;           ///< the rest belongs to the owner's lock
  std::vector<std::unique_ptr<Frame>> idle;
};

}  // namespace npu::graph
