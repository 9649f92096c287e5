// SPDX-License-Identifier: Apache-2.0
// Optimizers that Keras writes as primitives: reads of a variable and its slots, arithmetic, assignments. All of them,
// over all variables, become one node that goes over the elements once and writes in place.
#include <algorithm>
#include <set>

#include "graph/ir/point.h"
#include "graph/passes/pattern/fuse.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

bool is_update(const Function& f, const Node& node) {
  if (node.removed || node.parts || node.inputs.size() != 2) return false;
  const Part part = part_of(node).part;
  if (part != Part::kAssign && part != Part::kUpdate) return false;
  const ValueType& type = f.output(node.inputs[1]).type;
  return type.is_tensor() && is_floating(type.dtype);
}

/// Chooses what goes with the assignments: whatever only they use.
class Choice {
 public:
  explicit Choice(const Function& f) : f_(f), users_(f.nodes.size()), chosen_(f.nodes.size()) {
    for (size_t i = 0; i < f.nodes.size(); ++i)
      if (!f.nodes[i].removed)
        for (const Edge& edge : f.nodes[i].inputs)
          users_[static_cast<size_t>(edge.node)].push_back(static_cast<NodeId>(i));
    for (const Result& result : f.results) kept_.insert(result.value.node);
    order_ = f.order();
  }

  /// The nodes to fuse, in order; empty when there is nothing to win.
  std::vector<NodeId> run(FusionCount& count) {
    for (const NodeId id : order_) {
      const Node& node = f_[id];
      if (!is_update(f_, node)) continue;
      if (!is_made_here(f_[node.inputs[1].node])) continue;
      chosen_[static_cast<size_t>(id)] = true;
      written_.insert(node.inputs[0]);
      ++updates_;
    }
    if (updates_ == 0) return {};
    for (auto at = order_.rbegin(); at != order_.rend(); ++at)
      if (belongs(*at)) chosen_[static_cast<size_t>(*at)] = true;
    std::vector<NodeId> out;
    for (const NodeId id : order_)
      if (chosen_[static_cast<size_t>(id)]) out.push_back(id);
    if (out.size() <= updates_) {
      count.decline("what is assigned is used elsewhere too");
      return {};
    }
    return out;
  }

 private:
  /// Whether what is assigned comes from arithmetic, or from a variable that this step has just written.
  bool is_made_here(const Node& node) const {
    if (node.kind == Kind::kRead) return written_.contains(node.inputs[0]);
    return is_elementwise(f_, node) && node.kind != Kind::kIdentity;
  }
  bool belongs(NodeId id) const {
    const Node& node = f_[id];
    if (chosen_[static_cast<size_t>(id)] || kept_.contains(id) || node.removed) return false;
    const bool reads = node.kind == Kind::kRead && written_.contains(node.inputs[0]);
    if (!reads && !is_elementwise(f_, node)) return false;
    const std::vector<NodeId>& users = users_[static_cast<size_t>(id)];
    return !users.empty() &&
           std::all_of(users.begin(), users.end(), [&](NodeId user) { return chosen_[static_cast<size_t>(user)]; });
  }

  const Function& f_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<bool> chosen_;
  std::vector<NodeId> order_;
  std::set<NodeId> kept_;
  std::set<Edge> written_;
  size_t updates_ = 0;
};

/// The chosen nodes as pieces that hang together by variables. What several pieces use, such as the rate of the step,
/// stays outside.
class Pieces {
 public:
  Pieces(const Function& f, const std::vector<NodeId>& chosen) : f_(f), groups_(f) {
    const std::set<NodeId> inside(chosen.begin(), chosen.end());
    for (const NodeId id : chosen)
      for (const Edge& edge : f[id].inputs)
        if (inside.contains(edge.node)) users_[edge.node].push_back(id);
    for (auto at = chosen.rbegin(); at != chosen.rend(); ++at) place(*at);
  }

  std::vector<std::vector<NodeId>> take() {
    std::map<size_t, std::vector<NodeId>> out;
    for (const NodeId id : placed_) out[groups_.of(id)].push_back(id);
    std::vector<std::vector<NodeId>> pieces;
    for (auto& [group, members] : out) pieces.push_back(std::move(members));
    return pieces;
  }

 private:
  void place(NodeId id) {
    const bool holds = f_.output(f_[id].inputs.front()).type.kind == ValueKind::kResource;
    std::set<size_t> theirs;
    for (const NodeId user : users_[id]) {
      if (!holds && !placed_.contains(user)) return;
      if (placed_.contains(user)) theirs.insert(groups_.of(user));
    }
    if (!holds && theirs.size() != 1) return;
    placed_.insert(id);
    for (const size_t group : theirs) unite(id, groups_.members(group).front());
    if (!holds) return;
    const auto [at, fresh] = touched_.emplace(f_[id].inputs.front(), id);
    if (!fresh) unite(id, at->second);
  }
  void unite(NodeId a, NodeId b) {
    if (groups_.of(a) != groups_.of(b)) groups_.join({groups_.of(b), groups_.of(a)});
  }

  const Function& f_;
  Groups groups_;
  std::map<NodeId, std::vector<NodeId>> users_;
  std::map<Edge, NodeId> touched_;
  std::set<NodeId> placed_;
};

}  // namespace

void fuse_variable_updates(Function& f, Program&, FusionCount& count) {
  const std::vector<NodeId> chosen = Choice(f).run(count);
  if (chosen.empty()) return;
  // Pieces are put together one after another, as long as nothing has to happen between them.
  Groups groups(f);
  std::vector<size_t> made;
  for (const std::vector<NodeId>& piece : Pieces(f, chosen).take()) {
    std::vector<size_t> nodes;
    for (const NodeId id : piece) nodes.push_back(groups.of(id));
    if (nodes.size() < 2) continue;
    if (!groups.can_join(nodes)) {
      count.decline("something between the read of a variable and its update is not element-wise");
      continue;
    }
    const size_t whole = groups.join(nodes);
    count.take();
    if (made.empty() || !groups.can_join({made.back(), whole}))
      made.push_back(whole);
    else
      made.back() = groups.join({made.back(), whole});
  }
  for (const size_t group : made) fuse(f, groups.members(group), Kind::kVariableUpdate);
  f.compact();
}

}  // namespace npu::graph
