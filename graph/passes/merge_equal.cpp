// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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

/// Merges as it goes through the nodes in order. Those before the one at hand read and wait for living nodes already,
/// so nobody has to look for the readers of one that goes.
class Merger {
 public:
  explicit Merger(Function& f) : f_(f), twins_(f.nodes.size()), gone_(f.nodes.size()) {
    for (size_t i = 0; i < twins_.size(); ++i) twins_[i] = static_cast<NodeId>(i);
  }

  bool run() {
    for (const NodeId id : f_.order()) {
      Node& node = f_[id];
      for (Edge& edge : node.inputs) edge.node = twin(edge.node);
      wait_for_living(node.after);
      if (node.stateful || node.kind == Kind::kArgument || node.outputs.empty()) continue;
      const NodeId other = find_twin(id);
      if (other >= 0) merge(id, other);
    }
    for (Result& result : f_.results) result.value.node = twin(result.value.node);
    wait_for_living(f_.control_results);
    f_.compact();
    return count_ > 0;
  }

 private:
  NodeId& twin(NodeId id) { return twins_[static_cast<size_t>(id)]; }

  NodeId find_twin(NodeId id) {
    const size_t hash = hash_of(f_[id]);
    const auto [from, to] = seen_.equal_range(hash);
    const auto at = std::find_if(from, to, [&](const auto& entry) { return same(f_[entry.second], f_[id]); });
    if (at != to) return at->second;
    seen_.emplace(hash, id);
    return -1;
  }

  void merge(NodeId id, NodeId other) {
    twin(id) = other;
    gone_[static_cast<size_t>(id)] = ++count_;
    f_[id].removed = true;
  }

  /// Who waited for one that goes waits for what it waited for. Those that went first are replaced first.
  void wait_for_living(std::vector<NodeId>& waits) {
    while (true) {
      const auto first =
          std::min_element(waits.begin(), waits.end(), [&](NodeId a, NodeId b) { return when(a) < when(b); });
      if (first == waits.end() || when(*first) == kStays) return;
      const Node& dead = f_[*first];
      waits.erase(first);
      const auto add = [&](NodeId id) {
        if (std::find(waits.begin(), waits.end(), id) == waits.end()) waits.push_back(id);
      };
      for (const NodeId id : dead.after) add(id);
      for (const Edge& edge : dead.inputs) add(edge.node);
    }
  }

  static constexpr size_t kStays = ~size_t{0};
  size_t when(NodeId id) const {
    const size_t at = gone_[static_cast<size_t>(id)];
    return at == 0 ? kStays : at;
  }

  Function& f_;
  std::unordered_multimap<size_t, NodeId> seen_;
  std::vector<NodeId> twins_;  ///< by node: the one that gives its outputs
  std::vector<size_t> gone_;   ///< by node: 0, or its number among those that went
  size_t count_ = 0;
};

}  // namespace

bool merge_equal_nodes(Function& f, const Program&) { return Merger(f).run(); }

}  // namespace npu::graph
