// SPDX-License-Identifier: Apache-2.0
// Nodes that are one line of an element-wise family of `ops`, told apart for those who put several into one pass.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/function.h"

namespace npu::graph {

struct PointNode {
  std::string_view line;                     ///< the operator of `ops`
  std::span<const std::string_view> fields;  ///< where the inputs go, in order
  bool test = false;                         ///< the result is bool; otherwise it has the type of the last input
  bool same = false;                         ///< one input goes to all fields
  std::vector<std::pair<std::string_view, double>> numbers = {};  ///< other fields, where not as the line has them
};

/// What the node's operator is, as far as it is one line.
std::optional<PointNode> point_node(const Node& node);
/// The same for activations with numbers of their own.
std::optional<PointNode> activation_node(const Node& node);

}  // namespace npu::graph
