// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/dataflow/closure.h"

#include <algorithm>

#include "base/error.h"

namespace npu::graph::tensorflow {

void Closure::want(NodeId id) {
  if (wanted_.emplace(id, true).second) open_.push_back(id);
}

void Closure::want(Edge edge) {
  if (!given_(edge)) want(edge.node);
}

void Closure::copy(const std::vector<Edge>& values, const std::vector<NodeId>& nodes) {
  for (const Edge& edge : values) want(edge);
  for (const NodeId id : nodes)
    if (member_(id)) want(id);
  while (!open_.empty()) {
    const Node& node = from_[open_.back()];
    const NodeId id = open_.back();
    open_.pop_back();
    require(member_(id), "node {} is used by another frame or branch without Enter or Switch", node.name);
    for (const Edge& edge : node.inputs) want(edge);
    for (const NodeId before : node.after)
      if (member_(before)) want(before);
  }
  for (const NodeId id : from_.order())
    if (wanted_.contains(id)) copy(id);
}

void Closure::copy(NodeId id) {
  Node node = from_[id];
  for (Edge& edge : node.inputs) edge = at(edge);
  std::vector<NodeId> after;
  for (const NodeId before : node.after)
    if (const auto found = copied_.find(before); found != copied_.end()) after.push_back(found->second);
  node.after = std::move(after);
  copied_[id] = into_.add(std::move(node));
}

Edge Closure::at(Edge edge) const {
  if (const auto given = given_(edge)) return *given;
  return {copied_.at(edge.node), edge.output};
}

void copy_attribute(const Attributes& from, std::string_view name, Attributes& into, std::string_view as) {
  const auto at = from.entries().find(name);
  if (at == from.entries().end()) return;
  const Attributes::Entry entry = at->second;  // `into` may be `from`
  into.set(std::string(as), entry.value, entry.raw);
}

void sort_control_results(Function& f) {
  std::ranges::sort(f.control_results);
  const auto rest = std::ranges::unique(f.control_results);
  f.control_results.erase(rest.begin(), rest.end());
}

}  // namespace npu::graph::tensorflow
