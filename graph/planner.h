// SPDX-License-Identifier: Apache-2.0
// Makes a plan: walks a function's nodes in order, lets each be lowered, computes what is constant on the spot, and
// ends the plan where only the run can tell how to go on.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/function.h"
#include "graph/library.h"
#include "graph/lowering.h"
#include "graph/plan.h"
#include "graph/value.h"

namespace npu::graph {

/// Thrown by a lowering that must know the elements (or the object) of an input.
struct NeedsValue {
  size_t input;
};
/// Thrown by the planner when they are an argument's: plans must be made for its value.
struct NeedsArgumentValue {
  size_t argument;
};
/// Thrown by a lowering that cannot serve the node: the client's framework runs it.
struct Declined {
  std::string reason;
};

/// Thrown by the lowering of a fused node that its parts are to be lowered one by one instead.
struct Unfused {
  std::string reason;
};

/// An argument as plans see it.
struct ArgumentTraits {
  ValueType type;
  Tensor tensor;                           ///< shape and dtype of a tensor, or of a variable's value; no address
  std::shared_ptr<const Literal> literal;  ///< the elements, when plans are made for them
  std::shared_ptr<Object> object;
  bool too_long = false;  ///< plans cannot be made for its elements
};

class Planner {
 public:
  Planner(const Function& function, Library& library, std::span<const ArgumentTraits> arguments);
  Plan make();
  /// After make: the function with the types and shapes found, what was computed on the way as constants. For dumps.
  Function with_shapes() const;

 private:
  friend class Lowering;
  void add_argument(const Argument& argument, const ArgumentTraits& traits, size_t index);
  Plan make_once();
  void unfuse(NodeId only);
  /// False when the plan must end before this node.
  bool lower(NodeId id);
  void lower_by_kind(const Node& node);
  void lower_parts(const Node& node);
  void lower_on_host(const Node& node, const std::string& reason);
  void fold(NodeId id, size_t first_step, size_t first_slot);
  bool foldable(const Node& node, size_t first_step) const;
  void split(std::span<const NodeId> rest);
  void finish_results();
  /// Arena memory that somebody wants to have beyond the run becomes memory of its own.
  void keep(const Planned& planned);
  void find_lifetimes();

  /// The current node, for the steps it becomes.
  std::shared_ptr<const Node> shared_node();
  SlotId add_slot(Slot slot);
  Planned memory(DType dtype, const Dims& shape, SlotKind kind);
  Planned constant(Literal literal);
  void set(size_t output, Planned planned);

  const Function* f_;
  std::unique_ptr<Function> unfused_;  ///< what f_ is, once a fused node had to give way to its parts
  Library& library_;
  std::span<const ArgumentTraits> traits_;
  Plan plan_;
  std::map<Edge, Planned> values_;
  NodeId current_ = -1;
  std::shared_ptr<const Node> shared_;
  bool ended_ = false;  ///< nothing after the current node can be planned
};

}  // namespace npu::graph
