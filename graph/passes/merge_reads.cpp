// SPDX-License-Identifier: Apache-2.0
// Reads of one variable that nothing is written to in between are one read. Keras's optimizers read the learning rate
// and the step once for each variable, and compute with them once for each.
#include <algorithm>
#include <map>
#include <set>

#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

/// All that must run before `id`.
std::set<NodeId> before(const Function& f, NodeId id) {
  std::set<NodeId> seen;
  std::vector<NodeId> open{id};
  while (!open.empty()) {
    const Node& node = f[open.back()];
    open.pop_back();
    const auto visit = [&](NodeId next) {
      if (seen.insert(next).second) open.push_back(next);
    };
    for (const Edge& edge : node.inputs) visit(edge.node);
    for (const NodeId next : node.after) visit(next);
  }
  return seen;
}

struct Uses {
  std::vector<NodeId> reads, writes;
};

/// Whatever else takes a handle may write.
std::map<Edge, Uses> uses_of(const Function& f) {
  std::map<Edge, Uses> out;
  for (const NodeId id : f.order())
    for (const Edge& edge : f[id].inputs) {
      if (f.output(edge).type.kind != ValueKind::kResource) continue;
      (f[id].kind == Kind::kRead ? out[edge].reads : out[edge].writes).push_back(id);
    }
  return out;
}

void replace_read(Function& f, NodeId from, NodeId to) {
  f.replace({from, 0}, {to, 0});
  const auto wait_for = [&](std::vector<NodeId>& ids) {
    if (std::find(ids.begin(), ids.end(), from) == ids.end()) return;
    std::replace(ids.begin(), ids.end(), from, to);
    std::set<NodeId> seen;
    std::erase_if(ids, [&](NodeId id) { return !seen.insert(id).second; });
  };
  for (Node& node : f.nodes)
    if (!node.removed) wait_for(node.after);
  wait_for(f.control_results);
  f.remove(from);
}

}  // namespace

bool merge_reads(Function& f, const Program&) {
  bool changed = false;
  for (const auto& [handle, uses] : uses_of(f)) {
    std::map<std::vector<NodeId>, std::vector<NodeId>> by_after;
    for (const NodeId read : uses.reads) by_after[f[read].after].push_back(read);
    for (const auto& [after, reads] : by_after) {
      if (reads.size() < 2) continue;
      // Which writes a read comes behind tells its place among them.
      std::map<std::vector<NodeId>, NodeId> first;
      for (const NodeId read : reads) {
        std::vector<NodeId> behind;
        const std::set<NodeId> seen = uses.writes.empty() ? std::set<NodeId>{} : before(f, read);
        std::ranges::copy_if(uses.writes, std::back_inserter(behind), [&](NodeId id) { return seen.contains(id); });
        const auto [at, fresh] = first.emplace(std::move(behind), read);
        if (fresh || f[at->second].outputs.front().type != f[read].outputs.front().type) continue;
        replace_read(f, read, at->second);
        changed = true;
      }
    }
  }
  f.compact();
  return changed;
}

}  // namespace npu::graph
