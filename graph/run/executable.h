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

#include "graph/ir/function.h"
#include "graph/plan/argument_traits.h"
#include "graph/run/compilation.h"
#include "graph/run/environment.h"
#include "graph/run/plan_entry.h"
#include "graph/run/plan_family.h"
#include "graph/value/value.h"

namespace npu::graph {

class Executable final : public PlanOwner, public std::enable_shared_from_this<Executable> {
 public:
  /// `continues`: what comes after a plan that had to end, of the same function. `cause`: why its first plan is made.
  Executable(Function function, Environment& environment, Role role, bool continues = false, Cause cause = {});

  /// Runs with these arguments; safe from several threads and from within itself. An argument moved in may be written
  /// to by the last node that reads it. Raises 161002 when they do not fit the function, else what its nodes raise, as
  /// a NodeError that names this function among those around the node.
  /// `places`: where the client wants the results, one each; null where it does not matter. A result that could be
  /// written there lies there; others, of other sizes, or whose memory something else shares, are for the client to
  /// copy.
  std::vector<Value> run(std::vector<Value> arguments, std::span<const Tensor> places = {});

  /// Makes the plan for these arguments and runs nothing; raises what stands in the way.
  void compile(std::span<const Value> arguments);

  const Function& function() const { return function_; }
  /// Whether anything depends on this argument; for the others any value of the right type will do.
  bool reads(size_t argument) const { return reads_[argument]; }
  size_t plan_count() const;
  /// The plans of this function and of all that continues it.
  PlanFamily& family() const { return *family_; }
  void drop(PlanEntry& entry) override;
  void drop_frames(PlanEntry& entry) override;

 private:
  using Entry = PlanEntry;
  std::shared_ptr<Entry> find_entry(std::span<const Value> arguments);
  std::shared_ptr<Entry> make_entry(std::string key, std::span<const ArgumentTraits> traits);
  Cause cause_of(const Entry& entry) const;
  void find_key(std::span<const Value> arguments);
  std::unique_ptr<Frame> take(Entry& entry);
  void give_back(Entry& entry, std::unique_ptr<Frame> frame);
  void forget(Entry& entry);

  void check_count(size_t count) const;
  std::vector<Value> run_observed(std::vector<Value> arguments, std::span<const Tensor> places);
  std::vector<Value> run_frame(std::vector<Value> arguments, std::span<const Tensor> places);

  const Function function_;
  const Role role_;
  const bool continues_;
  const Cause first_cause_;
  Environment& environment_;
  std::shared_ptr<PlanFamily> family_;
  size_t depth_ = 0;
  std::atomic<int64_t> next_step_ = 0;  ///< for observers
  std::atomic<bool> met_ = false;       ///< whether other ranks were told its collectives
  mutable std::mutex mutex_;
  std::string key_;                            ///< of the arguments looked for; kept for its memory
  std::list<std::shared_ptr<Entry>> entries_;  ///< the last used first
  const std::vector<bool> reads_;              ///< by argument
  std::vector<bool> by_value_;  ///< arguments whose elements decide about shapes: plans are made for them
};

}  // namespace npu::graph
