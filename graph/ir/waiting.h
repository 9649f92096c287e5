// SPDX-License-Identifier: Apache-2.0
// What the nodes of a function wait for, inputs and others, while they are brought into an order in which they can run.
#pragma once

#include <queue>
#include <vector>

#include "graph/ir/node.h"

namespace npu::graph {

/// Nodes that wait for nothing any more; the one that came into the function first is on top.
using Ready = std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>>;

class Waiting {
 public:
  explicit Waiting(const std::vector<Node>& nodes) : missing_(nodes.size()), users_(nodes.size()) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = nodes[i];
      if (node.removed) continue;
      const auto id = static_cast<NodeId>(i);
      for (const Edge& edge : node.inputs) users_[static_cast<size_t>(edge.node)].push_back(id);
      for (const NodeId before : node.after) users_[static_cast<size_t>(before)].push_back(id);
      missing_[i] = node.inputs.size() + node.after.size();
    }
  }
  bool is_ready(NodeId id) const { return missing_[static_cast<size_t>(id)] == 0; }
  /// Those that wait for the node, as often as they do.
  const std::vector<NodeId>& users(NodeId id) const { return users_[static_cast<size_t>(id)]; }
  /// One of those that `user` waits for has come; whether it was the last.
  bool come(NodeId user) { return --missing_[static_cast<size_t>(user)] == 0; }

 private:
  std::vector<size_t> missing_;
  std::vector<std::vector<NodeId>> users_;
};

}  // namespace npu::graph
