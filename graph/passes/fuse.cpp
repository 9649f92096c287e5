// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/fuse.h"

#include <algorithm>
#include <map>

#include "graph/node/point.h"
#include "ops/vector/chain.h"

namespace npu::graph {
namespace {

constexpr size_t kLongestSearch = 4096;  // nodes looked at for one question

bool contains(const std::vector<NodeId>& ids, NodeId id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

/// A copy of `members`, in order, as a function; `inputs` and `outputs` receive its edges to the outside.
std::shared_ptr<const Function> parts_of(const Function& f, const std::vector<NodeId>& members,
                                         std::vector<Edge>& inputs, std::vector<Edge>& outputs) {
  auto parts = std::make_shared<Function>(f[members.back()].name);
  std::map<Edge, Edge> edges;
  std::map<NodeId, NodeId> copies;
  for (const NodeId id : members) copies[id] = -1;
  for (const NodeId id : members)
    for (const Edge& edge : f[id].inputs) {
      if (copies.contains(edge.node) || edges.contains(edge)) continue;
      edges[edge] = {parts->add_argument(f[edge.node].name, f.output(edge)), 0};
      inputs.push_back(edge);
    }
  for (const NodeId id : members) {
    Node copy = f[id];
    for (Edge& edge : copy.inputs) edge = edges.at(edge);
    std::erase_if(copy.after, [&](NodeId before) { return !copies.contains(before); });
    for (NodeId& before : copy.after) before = copies.at(before);
    const size_t count = copy.outputs.size();
    copies[id] = parts->add(std::move(copy));
    for (size_t i = 0; i < count; ++i) edges[{id, static_cast<int32_t>(i)}] = {copies[id], static_cast<int32_t>(i)};
  }
  const auto use = [&](const Edge& edge) {
    if (!copies.contains(edge.node) || std::find(outputs.begin(), outputs.end(), edge) != outputs.end()) return;
    outputs.push_back(edge);
    parts->results.push_back({f[edge.node].name, edges.at(edge)});
  };
  for (size_t i = 0; i < f.nodes.size(); ++i)
    if (!f.nodes[i].removed && !copies.contains(static_cast<NodeId>(i)))
      for (const Edge& edge : f.nodes[i].inputs) use(edge);
  for (const Result& result : f.results) use(result.value);
  return parts;
}

}  // namespace

Groups::Groups(const Function& f)
    : f_(f), group_(f.nodes.size()), members_(f.nodes.size()), waiting_(f.nodes.size()), seen_(f.nodes.size()) {
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    group_[i] = i;
    members_[i] = {id};
    if (f.nodes[i].removed) continue;
    for (const Edge& edge : f.nodes[i].inputs) waiting_[static_cast<size_t>(edge.node)].push_back(id);
    for (const NodeId before : f.nodes[i].after) waiting_[static_cast<size_t>(before)].push_back(id);
  }
}

bool Groups::can_join(const std::vector<size_t>& groups) const {
  ++search_;
  const auto wanted = [&](size_t group) { return std::find(groups.begin(), groups.end(), group) != groups.end(); };
  std::vector<size_t> open;
  const auto leave = [&](size_t group, bool first) {
    for (const NodeId member : members_[group])
      for (const NodeId next : waiting_[static_cast<size_t>(member)]) {
        const size_t to = of(next);
        if (wanted(to)) {
          if (!first) return false;
          continue;
        }
        if (seen_[to] == search_) continue;
        seen_[to] = search_;
        open.push_back(to);
      }
    return true;
  };
  for (const size_t group : groups) leave(group, true);
  for (size_t looked = 0; !open.empty(); ++looked) {
    if (looked == kLongestSearch) return false;
    const size_t group = open.back();
    open.pop_back();
    if (!leave(group, false)) return false;
  }
  return true;
}

size_t Groups::join(const std::vector<size_t>& groups) {
  const size_t to = groups.front();
  for (const size_t from : groups) {
    if (from == to) continue;
    for (const NodeId id : members_[from]) group_[static_cast<size_t>(id)] = to;
    members_[to].insert(members_[to].end(), members_[from].begin(), members_[from].end());
    members_[from].clear();
  }
  return to;
}

void fuse(Function& f, std::vector<NodeId> members, std::string_view op) {
  std::vector<NodeId> sorted;
  for (const NodeId id : f.order())
    if (contains(members, id)) sorted.push_back(id);
  members = std::move(sorted);
  const NodeId place = *std::max_element(members.begin(), members.end());
  std::vector<Edge> outputs;
  Node node;
  node.parts = parts_of(f, members, node.inputs, outputs);
  node.name = f[place].name, node.client_name = f[place].client_name, node.functions = f[place].functions;
  node.op = op;
  for (const Edge& edge : outputs) node.outputs.push_back(f.output(edge));
  for (const NodeId id : members) {
    node.stateful |= f[id].stateful;
    for (const NodeId before : f[id].after)
      if (!contains(members, before) && !contains(node.after, before)) node.after.push_back(before);
  }
  for (Node& other : f.nodes) {
    if (other.removed) continue;
    const size_t waits = std::erase_if(other.after, [&](NodeId before) { return contains(members, before); });
    if (waits > 0) other.after.push_back(place);
  }
  if (std::erase_if(f.control_results, [&](NodeId id) { return contains(members, id); }) > 0)
    f.control_results.push_back(place);
  std::map<Edge, int32_t> numbers;
  for (size_t i = 0; i < outputs.size(); ++i) numbers[outputs[i]] = static_cast<int32_t>(i);
  const auto moved = [&](Edge& edge) {
    if (const auto at = numbers.find(edge); at != numbers.end()) edge = {place, at->second};
  };
  for (size_t i = 0; i < f.nodes.size(); ++i)
    if (!f.nodes[i].removed && !contains(members, static_cast<NodeId>(i)))
      for (Edge& edge : f.nodes[i].inputs) moved(edge);
  for (Result& result : f.results) moved(result.value);
  f[place] = std::move(node);
  for (const NodeId id : members)
    if (id != place) f.remove(id);
}

bool is_elementwise(const Function& f, const Node& node) {
  const auto fits = [](const ValueType& type) {
    return type.is_tensor() && (is_floating(type.dtype) || type.dtype == DType::kBool);
  };
  if (node.stateful || node.removed || node.parts || node.inputs.empty() || node.outputs.size() != 1) return false;
  if (!fits(node.outputs.front().type)) return false;
  bool constant = true;
  for (const Edge& edge : node.inputs) {
    if (!fits(f.output(edge).type)) return false;
    constant = constant && f[edge.node].op == kind::kConstant;  // those are computed while planning
  }
  if (constant) return false;
  if (node.op == "AddN" || node.op == "BiasAdd" || node.op == "Cast" || node.op == "Identity") return true;
  const std::optional<PointNode> point = point_node(node.op);
  return point && ops::ChainProgram::knows(point->line, f.output(node.inputs.back()).type.dtype,
                                           node.outputs.front().type.dtype);
}

}  // namespace npu::graph
