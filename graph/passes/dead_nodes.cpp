// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/pass.h"

namespace npu::graph {
namespace {

/// Marks what must run: results, control results, and all they stand on. A stateful node nobody waits for is dead too;
/// importers name those that must run as control results.
std::vector<bool> needed(const Function& f) {
  std::vector<bool> live(f.nodes.size());
  std::vector<NodeId> open;
  const auto need = [&](NodeId id) {
    if (live[static_cast<size_t>(id)]) return;
    live[static_cast<size_t>(id)] = true;
    open.push_back(id);
  };
  for (const Argument& argument : f.arguments) need(argument.node);
  for (const Result& result : f.results) need(result.value.node);
  for (const NodeId id : f.control_results) need(id);
  while (!open.empty()) {
    const Node& node = f[open.back()];
    open.pop_back();
    for (const Edge& edge : node.inputs) need(edge.node);
    for (const NodeId before : node.after) need(before);
  }
  return live;
}

}  // namespace

bool drop_dead_nodes(Function& f, const Program&) {
  const std::vector<bool> live = needed(f);
  bool changed = false;
  for (size_t i = 0; i < live.size(); ++i) {
    changed |= !live[i];
    f.nodes[i].removed |= !live[i];
  }
  f.compact();
  return changed;
}

}  // namespace npu::graph
