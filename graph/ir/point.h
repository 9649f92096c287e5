// SPDX-License-Identifier: Apache-2.0
// Which kinds of node can go, several of them, over their elements in one pass: each declares its part where it is
// registered (lowering.h); passes choose by it, and the fused node (node/fused.cpp) computes by it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ir/function.h"

namespace npu::graph {

/// What a kind of node is in such a pass.
enum class Part : uint8_t {
  kNone,    ///< it takes no part
  kPoint,   ///< one line of an element-wise family of `ops`, as its PointForm says
  kSum,     ///< the sum of all inputs, which have one shape
  kBias,    ///< input 1 along the channels of input 0
  kCast,    ///< another type
  kSame,    ///< its input
  kRead,    ///< a variable's value
  kAssign,  ///< input 1 becomes the value of variable 0
  kUpdate,  ///< the line (add, sub) of variable 0 and input 1 does
};

using Numbers = std::vector<std::pair<std::string_view, double>>;

/// How a node's inputs and attributes become the fields of the line.
struct PointForm {
  std::span<const std::string_view> fields;         ///< where the inputs go, in order
  bool test = false;                                ///< the result is bool; otherwise it has the type of the last input
  bool same = false;                                ///< one input goes to all fields
  Numbers (*numbers)(const Attributes&) = nullptr;  ///< other fields, where not as the line has them
};

struct NodePart {
  Part part = Part::kNone;
  std::string_view line = {};  ///< the operator of `ops`
  PointForm form = {};         ///< of kPoint
};

/// For registrations only. Raises 500000 where the type has declared one before.
void declare_part(NodeType type, const NodePart& part);
/// kNone for a type that declared nothing.
const NodePart& part_of(const Node& node);

}  // namespace npu::graph
