// SPDX-License-Identifier: Apache-2.0
// Makes a plan: walks a function's nodes in order, lets each be lowered, computes what is constant on the spot, and
// ends the plan where only the run can tell how to go on.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/ir/function.h"
#include "graph/plan/builder.h"
#include "graph/plan/plan.h"

namespace npu::graph {

class Planner {
 public:
  Planner(const Function& function, Surroundings& surroundings, std::span<const ArgumentTraits> arguments);
  /// What comes after the plan, where it ends early, is Plan::rest.
  Plan make();
  /// After make: the function with the types and shapes found, what was computed on the way as constants. For dumps.
  Function with_shapes() const;

 private:
  void add_argument(const Argument& argument, const ArgumentTraits& traits, size_t index);
  Plan make_once();
  void unfuse(const std::vector<NodeId>& only);
  void ask_for_parts(const Node& node);
  /// False when the plan must end before this node.
  bool lower(NodeId id);
  void lower_by_meaning(const Node& node);
  void check_types(const Node& node, size_t first_step) const;
  void show_to_observers(const Node& node, size_t first_step);
  void lower_parts(const Node& node);
  void lower_on_host(const Node& node, const std::string& reason);
  void fold(NodeId id, size_t first_step, size_t first_slot);
  bool foldable(const Node& node, size_t first_step) const;
  std::vector<Literal> folded(NodeId id, size_t first_step, size_t first_slot) const;
  std::vector<Literal> conversion(NodeId id, size_t first_step, size_t first_slot);
  void split(std::span<const NodeId> rest);
  void finish_results();
  void find_lifetimes();

  PlanBuilder builder_;
  std::unique_ptr<Function> unfused_;  ///< what is planned, once a fused node had to give way to its parts
  std::vector<NodeId> apart_;          ///< fused nodes whose parts are to be planned in their place
};

}  // namespace npu::graph
