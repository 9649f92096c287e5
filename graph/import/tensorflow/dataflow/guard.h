// SPDX-License-Identifier: Apache-2.0
// Under which conditions the nodes of a function with Switch and Merge nodes run.
#pragma once

#include <optional>
#include <vector>

#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// One side of a condition that is decided in the run; a constant one is decided here.
struct Side {
  Edge condition;
  bool taken = false;
  bool operator==(const Side&) const = default;
  Side other() const { return {condition, !taken}; }
};
/// All of them must hold; the outermost condition first.
using Guard = std::vector<Side>;

class Guards {
 public:
  /// Raises 161002 naming a Merge whose inputs do not come from the two sides of one condition.
  explicit Guards(const Function& f);
  /// Of a node; without value for one that never runs, as it wants both sides of a condition.
  const std::optional<Guard>& of(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  /// Of a value: a Switch gives each of its two under another one.
  std::optional<Guard> of(Edge edge) const;
  /// The condition between whose sides a Merge chooses; none where only one of its inputs ever comes.
  std::optional<Edge> chooses(NodeId merge) const;
  /// The condition of a Switch, as the value that decides in the end: copies of it count as it.
  Edge condition_of(const Node& decides) const;
  /// The condition of a Switch where it is a constant.
  std::optional<bool> value_of(const Node& decides) const;

 private:
  void find(NodeId id);

  const Function& f_;
  std::vector<std::optional<Guard>> nodes_;
  std::vector<std::optional<Edge>> chooses_;
};

}  // namespace npu::graph::tensorflow
