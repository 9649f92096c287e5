// SPDX-License-Identifier: Apache-2.0
// A function that can be run: plans by the types and shapes of the arguments, frames that wait for their next run.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "graph/frame.h"
#include "graph/function.h"
#include "graph/plan.h"
#include "graph/plan_family.h"
#include "graph/planner.h"
#include "graph/value.h"

namespace npu::graph {

/// A plan for arguments of certain traits, and the frames that wait for their next run.
struct PlanEntry {
  std::string key;
  std::vector<std::string> made_for;  ///< the arguments in words
  std::shared_ptr<const Plan> plan;
  std::weak_ptr<Executable> owner;
  size_t depth = 0;               ///< how many plans come before it in a run
  std::atomic<int64_t> used = 0;  ///< when, in calls of the process
  bool in_family = false;         ///< written by the family
  bool dropped = false;           ///< the rest belongs to the owner's lock
  std::vector<std::unique_ptr<Frame>> idle;
};

class Executable : public std::enable_shared_from_this<Executable> {
 public:
  static constexpr size_t kMostPlans = 32;  ///< of one function or continuation; the least recently used goes first

  /// `continues`: what comes after a plan that had to end, of the same function.
  Executable(Function function, Library& library, bool continues = false);

  /// Runs with these arguments; safe from several threads and from within itself. An argument moved in may be written
  /// to by the last node that reads it. Raises 161002 when they do not fit the function, else what its nodes raise, as
  /// a NodeError that names this function among those around the node.
  std::vector<Value> run(std::vector<Value> arguments);

  /// Makes the plan for these arguments and runs nothing; raises what stands in the way.
  void compile(std::span<const Value> arguments);

  const Function& function() const { return function_; }
  /// Whether anything depends on this argument; for the others any value of the right type will do.
  bool reads(size_t argument) const { return reads_[argument]; }
  size_t plan_count() const;
  /// The plans of this function and of all that continues it.
  PlanFamily& family() const { return *family_; }
  /// Forgets a plan, or its frames; runs of it go on.
  void drop(PlanEntry& entry);
  void drop_frames(PlanEntry& entry);

 private:
  using Entry = PlanEntry;
  std::shared_ptr<Entry> find_entry(std::span<const Value> arguments);
  std::shared_ptr<Entry> make_entry(std::string key, std::span<const ArgumentTraits> traits);
  void find_key(std::span<const Value> arguments);
  std::unique_ptr<Frame> take(Entry& entry);
  void give_back(Entry& entry, std::unique_ptr<Frame> frame);
  void forget(Entry& entry);

  void check_count(size_t count) const;
  std::vector<Value> run_frame(std::vector<Value> arguments);

  const Function function_;
  const bool continues_;
  Library& library_;
  std::shared_ptr<PlanFamily> family_;
  size_t depth_ = 0;
  mutable std::mutex mutex_;
  std::string key_;                            ///< of the arguments looked for; kept for its memory
  std::list<std::shared_ptr<Entry>> entries_;  ///< the last used first
  const std::vector<bool> reads_;              ///< by argument
  std::vector<bool> by_value_;  ///< arguments whose elements decide about shapes: plans are made for them
};

}  // namespace npu::graph
