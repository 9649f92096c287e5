// SPDX-License-Identifier: Apache-2.0
// What passes ask of a graph while they look for a pattern in it.
#pragma once

#include <optional>
#include <vector>

#include "graph/ir/function.h"

namespace npu::graph {

/// Who reads what, of a function as it is now.
class Readers {
 public:
  explicit Readers(const Function& function);

  /// The nodes that read this edge, in order, one that reads it twice two times; -1 stands for a result.
  std::vector<NodeId> of(Edge edge) const;
  bool none(Edge edge) const { return of(edge).empty(); }
  /// The node that alone reads this edge, once; else -1.
  NodeId only(Edge edge) const;

 private:
  const Function& f_;
  std::vector<std::vector<NodeId>> nodes_;  ///< by node: those that read one of its outputs
};

/// The node that brings `edge` when it is of this kind, else -1.
NodeId producer(const Function& f, Edge edge, Kind kind);
/// The elements of a constant, or null.
const Literal* constant_at(const Function& f, Edge edge);
/// True when all elements of `edge` are known to be `value`: a floating constant, or a Fill with one.
bool is_filled_with(const Function& f, Edge edge, double value);
/// Of a node with two inputs one of which is `edge`: the other. An edge without node when it is not so.
Edge other_input(const Node& node, Edge edge);
/// The one number of a constant; none where there are more, or where only the run knows.
std::optional<double> number_at(const Function& f, Edge edge);
/// The node of this kind that alone reads `edge` and takes a parameter besides, which `parameter` receives; else -1.
NodeId followed_by(const Function& f, const Readers& readers, Edge edge, Kind kind, Edge& parameter);
/// True for what is the same in every row of a batch: a variable's value, an argument, a constant, also after a cast or
/// a reshape.
bool is_parameter(const Function& f, Edge edge);

}  // namespace npu::graph
