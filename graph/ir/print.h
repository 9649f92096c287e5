// SPDX-License-Identifier: Apache-2.0
// Functions as text to read and as Graphviz to look at.
#pragma once

#include <string>

#include "graph/ir/function.h"

namespace npu::graph {

/// One line a node, in an order in which they could run:
///   function step(x: float32[8, ?], v: resource) -> (loss: float32[])
///     %2 = ReadVariableOp(%1) dtype=float32 : float32[16, 4]  "dense/Read"
std::string to_text(const Function& function);
/// All functions, by name.
std::string to_text(const Program& program);
/// A digraph: nodes with operator, name and shapes; dashed edges for order without a value.
std::string to_graphviz(const Function& function);

}  // namespace npu::graph
