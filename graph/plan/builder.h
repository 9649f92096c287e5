// SPDX-License-Identifier: Apache-2.0
// A plan while it is made: what lowerings (lowering.h) write into.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>

#include "graph/ir/function.h"
#include "graph/plan/argument_traits.h"
#include "graph/plan/plan.h"
#include "graph/plan/surroundings.h"

namespace npu::graph {

struct PlanBuilder {
  PlanBuilder(const Function& f, Surroundings& around, std::span<const ArgumentTraits> arguments)
      : function(&f), surroundings(around), traits(arguments) {}

  /// The current node, for the steps it becomes.
  std::shared_ptr<const Node> shared_node();
  SlotId add_slot(Slot slot);
  Planned memory(DType dtype, const Dims& shape, SlotKind kind);
  Planned constant(Literal literal);
  /// What output `output` of the current node is.
  void set(size_t output, Planned planned) { values[{current, static_cast<int32_t>(output)}] = std::move(planned); }
  /// Arena memory that somebody wants to have beyond the run becomes memory of its own.
  void keep(const Planned& planned);
  /// The next node to be lowered.
  void go_to(NodeId node) { current = node, shared = nullptr; }

  const Function* function;
  Surroundings& surroundings;
  std::span<const ArgumentTraits> traits;  ///< of the function's arguments
  Plan plan;
  std::map<Edge, Planned> values;
  NodeId current = -1;
  bool ended = false;  ///< nothing after the current node can be planned
  /// Lowers the parts of a fused node as if they stood in the function themselves.
  std::function<void(const Node&)> lower_parts;

 private:
  std::shared_ptr<const Node> shared;
};

/// Whether the slot of a tensor holds nothing else.
bool fills_slot(const Planned& planned, const Slot& slot);

}  // namespace npu::graph
