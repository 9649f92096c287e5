// SPDX-License-Identifier: Apache-2.0
// Nodes that are one line of an element-wise family of `ops`, told apart for those who put several into one pass.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace npu::graph {

struct PointNode {
  std::string_view line;                     ///< the operator of `ops`
  std::span<const std::string_view> fields;  ///< where the inputs go, in order
  bool test = false;                         ///< the result is bool; otherwise it has the type of the last input
  bool same = false;                         ///< one input goes to all fields
};

/// What the node's operator is, as far as it is one line.
std::optional<PointNode> point_node(std::string_view op);

}  // namespace npu::graph
