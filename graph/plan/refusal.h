// SPDX-License-Identifier: Apache-2.0
// What ends the lowering of a node: what it would have to know, or that it cannot be done here. Thrown; the planner
// (planner.cpp) knows how to go on.
#pragma once

#include <cstddef>
#include <string>

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

}  // namespace npu::graph
