// SPDX-License-Identifier: Apache-2.0
// A gradient reads what the forward nodes computed on the way: of GELU as Keras writes it, half of the input, the input
// over the root of two, and one plus its error function. All of them are functions of one value, so keeping that one
// and computing them again, element by element while the gradient is computed, spares writing and reading the others.
#include <algorithm>
#include <map>

#include "graph/ir/point.h"
#include "graph/passes/pattern/fuse.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

constexpr size_t kLongestChain = 12;  // nodes computed again for one value

class Recompute {
 public:
  Recompute(Function& f, FusionCount& count)
      : f_(f), count_(count), groups_(f), users_(f.nodes.size()), place_(f.nodes.size()) {
    order_ = f.order();
    for (size_t i = 0; i < order_.size(); ++i) {
      place_[static_cast<size_t>(order_[i])] = i;
      for (const Edge& edge : f[order_[i]].inputs) users_[static_cast<size_t>(edge.node)].push_back(order_[i]);
    }
  }

  void run() {
    std::map<Edge, std::vector<NodeId>> kept;  // by the value they are made of: what is read far away
    for (const NodeId id : order_)
      if (is_function_of_one(id) && !is_read_whole(id) && read_far_away(id)) kept[root(id)].push_back(id);
    for (const auto& [value, nodes] : kept) {
      const bool value_stays = is_kept(value.node);
      if (nodes.size() + (value_stays ? 1 : 0) < 2) {
        count_.decline("one value is kept in either case");
        continue;
      }
      again_.clear();
      find_gate(nodes);
      if (gate_ < 0) {
        count_.decline("nothing that its readers wait for comes before them all");
        continue;
      }
      for (const NodeId id : nodes) move_readers(id);
      count_.take();
    }
  }

 private:
  /// The only input that is no constant; -1 where there are others.
  static int only_input(const Function& f, const Node& node) {
    int found = -1;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (f[node.inputs[i].node].kind == Kind::kConstant) continue;
      if (found >= 0) return -1;
      found = static_cast<int>(i);
    }
    return found;
  }
  bool is_function_of_one(NodeId id) const {
    const Node& node = f_[id];
    const Part part = part_of(node).part;
    return (part == Part::kPoint || part == Part::kSum) && is_elementwise(f_, node) && only_input(f_, node) >= 0;
  }
  Edge input(NodeId id) const { return f_[id].inputs[static_cast<size_t>(only_input(f_, f_[id]))]; }
  Edge root(NodeId id) const {
    Edge edge = input(id);
    for (size_t i = 0; i < kLongestChain && is_function_of_one(edge.node); ++i) edge = input(edge.node);
    return edge;
  }

  /// Element-wise readers that cannot be put together with the node, so that its result must be kept for them.
  bool is_far(NodeId id, NodeId reader) const {
    return is_elementwise(f_, f_[reader]) && !groups_.can_join({groups_.of(id), groups_.of(reader)});
  }
  bool read_far_away(NodeId id) const {
    const auto& users = users_[static_cast<size_t>(id)];
    return std::any_of(users.begin(), users.end(), [&](NodeId reader) { return is_far(id, reader); });
  }

  /// Whether somebody needs the value in memory, and not an element at a time.
  bool is_read_whole(NodeId id) const {
    const auto& users = users_[static_cast<size_t>(id)];
    return std::any_of(users.begin(), users.end(), [&](NodeId reader) { return !is_elementwise(f_, f_[reader]); }) ||
           std::any_of(f_.results.begin(), f_.results.end(), [&](const Result& r) { return r.value.node == id; });
  }
  bool is_kept(NodeId id) const { return f_[id].kind == Kind::kArgument || is_read_whole(id) || read_far_away(id); }

  size_t place(NodeId node) const { return place_[static_cast<size_t>(node)]; }

  /// Where the first of the far readers stands in the order.
  size_t first_reader(const std::vector<NodeId>& nodes) const {
    size_t first = order_.size();
    for (const NodeId id : nodes)
      for (const NodeId reader : users_[static_cast<size_t>(id)])
        if (is_far(id, reader)) first = std::min(first, place(reader));
    return first;
  }

  /// The first node behind those that far readers wait for as well. It stands before all of these, so that what is
  /// computed again may wait for it, and is then no part of the forward nodes: nothing that this pass adds goes against
  /// the order it found.
  void find_gate(const std::vector<NodeId>& nodes) {
    const size_t end = first_reader(nodes);
    gate_ = -1;
    const auto look_at = [&](NodeId id, NodeId node) {
      if (static_cast<size_t>(node) >= place_.size()) return;  // it was computed again for another value
      const bool between = place(node) > place(id) && place(node) < (gate_ < 0 ? end : place(gate_));
      if (between && !groups_.can_join({groups_.of(id), groups_.of(node)})) gate_ = node;
    };
    for (const NodeId id : nodes)
      for (const NodeId reader : users_[static_cast<size_t>(id)]) {
        if (!is_far(id, reader)) continue;
        for (const Edge& edge : f_[reader].inputs) look_at(id, edge.node);
        for (const NodeId before : f_[reader].after) look_at(id, before);
      }
  }

  void move_readers(NodeId id) {
    const NodeId copy = computed_again(id);
    for (const NodeId reader : users_[static_cast<size_t>(id)])
      if (is_far(id, reader))
        std::replace(f_[reader].inputs.begin(), f_[reader].inputs.end(), Edge{id, 0}, Edge{copy, 0});
  }
  NodeId computed_again(NodeId id) {
    if (const auto at = again_.find(id); at != again_.end()) return at->second;
    Node copy = f_[id];
    copy.after.clear();
    if (gate_ >= 0) copy.after.push_back(gate_);
    Edge& from = copy.inputs[static_cast<size_t>(only_input(f_, copy))];
    if (is_function_of_one(from.node) && from != root(id)) from.node = computed_again(from.node);
    return again_[id] = f_.add(std::move(copy));
  }

  Function& f_;
  FusionCount& count_;
  Groups groups_;
  std::vector<NodeId> order_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<size_t> place_;       ///< in order_
  std::map<NodeId, NodeId> again_;  ///< of the value at hand: copies of nodes
  NodeId gate_ = -1;                ///< what they wait for
};

}  // namespace

void recompute_for_gradients(Function& f, Program&, FusionCount& count) {
  // What overflows when it is computed again would set the device's word again, after the program has cleared it.
  const auto asks = [](const Node& node) { return is_float_status(node.kind); };
  if (std::any_of(f.nodes.begin(), f.nodes.end(), asks)) return;
  Recompute(f, count).run();
  f.compact();
}

}  // namespace npu::graph
