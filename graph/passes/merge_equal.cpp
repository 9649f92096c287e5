// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

size_t mixed(size_t hash, size_t value) { return hash ^ (value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2)); }

size_t hash_of(const Node& node) {
  size_t hash = std::hash<std::string>()(node.op);
  for (const Edge& edge : node.inputs)
    hash = mixed(mixed(hash, static_cast<size_t>(edge.node)), static_cast<size_t>(edge.output));
  for (const auto& [name, entry] : node.attributes.entries())
    if (!name.starts_with('_')) hash = mixed(hash, entry.value.index());
  return hash;
}

/// Attributes beginning with "_" say nothing about the result.
bool same_attributes(const Attributes& a, const Attributes& b) {
  const auto skip = [](auto& at, auto end) {
    while (at != end && at->first.starts_with('_')) ++at;
  };
  auto x = a.entries().begin(), y = b.entries().begin();
  for (;; ++x, ++y) {
    skip(x, a.entries().end());
    skip(y, b.entries().end());
    if (x == a.entries().end() || y == b.entries().end()) return x == a.entries().end() && y == b.entries().end();
    if (x->first != y->first || !(x->second.value == y->second.value)) return false;
  }
}

bool same(const Node& a, const Node& b) {
  return a.op == b.op && a.inputs == b.inputs && a.after == b.after && same_attributes(a.attributes, b.attributes);
}

}  // namespace

bool merge_equal_nodes(Function& f, const Program&) {
  std::unordered_multimap<size_t, NodeId> seen;
  bool changed = false;
  for (const NodeId id : f.order()) {
    const Node& node = f[id];
    if (node.stateful || node.kind == Kind::kArgument || node.outputs.empty()) continue;
    const size_t hash = hash_of(node);
    const auto [from, to] = seen.equal_range(hash);
    const auto twin = std::find_if(from, to, [&](const auto& entry) { return same(f[entry.second], node); });
    if (twin == to) {
      seen.emplace(hash, id);
      continue;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const auto output = static_cast<int32_t>(i);
      f.replace({id, output}, {twin->second, output});
    }
    f.remove(id);
    changed = true;
  }
  f.compact();
  return changed;
}

}  // namespace npu::graph
