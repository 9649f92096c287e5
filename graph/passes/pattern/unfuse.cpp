// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/pattern/unfuse.h"

#include <algorithm>
#include <map>

namespace npu::graph {
namespace {

class Unfuser {
 public:
  explicit Unfuser(const Function& f) : f_(f), out_(f.name, *f.dialect) {}

  Function run(const std::vector<NodeId>& only) {
    for (const Argument& argument : f_.arguments)
      edges_[{argument.node, 0}] = {out_.add_argument(argument.name, argument.value), 0};
    for (const NodeId id : f_.order()) {
      if (f_[id].kind == Kind::kArgument) continue;
      if (f_[id].parts && (only.empty() || std::ranges::find(only, id) != only.end()))
        put_parts(id);
      else
        put(id);
    }
    for (const Result& result : f_.results) out_.results.push_back({result.name, edges_.at(result.value)});
    out_.control_results = became(f_.control_results);
    return std::move(out_);
  }

 private:
  std::vector<NodeId> became(const std::vector<NodeId>& ids) const {
    std::vector<NodeId> out;
    for (const NodeId id : ids)
      if (const auto at = nodes_.find(id); at != nodes_.end())
        out.insert(out.end(), at->second.begin(), at->second.end());
    return out;
  }

  void put(NodeId id) {
    Node node = f_[id];
    for (Edge& edge : node.inputs) edge = edges_.at(edge);
    node.after = became(node.after);
    const size_t outputs = node.outputs.size();
    const NodeId added = out_.add(std::move(node));
    nodes_[id] = {added};
    for (size_t i = 0; i < outputs; ++i) edges_[{id, static_cast<int32_t>(i)}] = {added, static_cast<int32_t>(i)};
  }

  void put_parts(NodeId id) {
    const Function& parts = *f_[id].parts;
    const std::vector<NodeId> outside = became(f_[id].after);
    std::map<Edge, Edge> edges;
    std::map<NodeId, NodeId> nodes;
    for (size_t i = 0; i < parts.arguments.size(); ++i) {
      const NodeId argument = parts.arguments[i].node;
      const Edge given = edges_.at(f_[id].inputs[i]);
      edges[{argument, 0}] = given, nodes[argument] = given.node;
    }
    for (const NodeId part : parts.order()) {
      if (parts[part].kind == Kind::kArgument) continue;
      Node node = parts[part];
      for (Edge& edge : node.inputs) edge = edges.at(edge);
      for (NodeId& before : node.after) before = nodes.at(before);
      node.after.insert(node.after.end(), outside.begin(), outside.end());
      const size_t outputs = node.outputs.size();
      const NodeId twin = put_before(node);
      const NodeId added = twin >= 0 ? twin : out_.add(std::move(node));
      nodes[part] = added;
      nodes_[id].push_back(added);
      for (size_t i = 0; i < outputs; ++i) edges[{part, static_cast<int32_t>(i)}] = {added, static_cast<int32_t>(i)};
    }
    for (size_t i = 0; i < parts.results.size(); ++i)
      edges_[{id, static_cast<int32_t>(i)}] = edges.at(parts.results[i].value);
  }

  /// Where the same node stands already: fused nodes may have it in common, see fuse().
  NodeId put_before(const Node& node) const {
    const NodeId found = node.stateful ? -1 : out_.find(node.name);
    return found >= 0 && out_[found].op == node.op && out_[found].inputs == node.inputs ? found : -1;
  }

  const Function& f_;
  Function out_;
  std::map<Edge, Edge> edges_;
  std::map<NodeId, std::vector<NodeId>> nodes_;  ///< what a node became
};

}  // namespace

Function unfused(const Function& f, const std::vector<NodeId>& only) {
  Function out = Unfuser(f).run(only);
  // Parts may be fused nodes themselves.
  const auto is_fused = [](const Node& node) { return node.parts != nullptr; };
  while (only.empty() && std::any_of(out.nodes.begin(), out.nodes.end(), is_fused)) out = Unfuser(out).run(only);
  return out;
}

}  // namespace npu::graph
