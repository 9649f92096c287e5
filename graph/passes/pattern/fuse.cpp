// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/pattern/fuse.h"

#include <algorithm>
#include <map>

#include "graph/ir/point.h"
#include "ops/vector/chain/chain.h"

namespace npu::graph {
namespace {

constexpr size_t kLongestSearch = 4096;  // nodes looked at for one question

bool contains(const std::vector<NodeId>& ids, NodeId id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

/// Makes the copy of nodes that a fused node keeps.
class Parts {
 public:
  Parts(const Function& f, std::string name) : f_(f), parts_(std::make_shared<Function>(std::move(name), *f.dialect)) {}

  /// Copies `nodes`, in order; gives their edges from the outside.
  std::vector<Edge> copy(const std::vector<NodeId>& nodes) {
    std::vector<Edge> inputs;
    for (const NodeId id : nodes) copies_[id] = -1;
    for (const NodeId id : nodes)
      for (const Edge& edge : f_[id].inputs) {
        if (copies_.contains(edge.node) || edges_.contains(edge)) continue;
        edges_[edge] = {parts_->add_argument(f_[edge.node].name, f_.output(edge)), 0};
        inputs.push_back(edge);
      }
    for (const NodeId id : nodes) copy(id);
    return inputs;
  }

  /// Makes results of those that others than `members` read, and gives them.
  std::vector<Edge> publish(const std::vector<NodeId>& members) {
    std::vector<Edge> outputs;
    const auto use = [&](const Edge& edge) {
      if (!contains(members, edge.node) || std::find(outputs.begin(), outputs.end(), edge) != outputs.end()) return;
      outputs.push_back(edge);
      parts_->results.push_back({f_[edge.node].name, edges_.at(edge)});
    };
    for (size_t i = 0; i < f_.nodes.size(); ++i)
      if (!f_.nodes[i].removed && !contains(members, static_cast<NodeId>(i)))
        for (const Edge& edge : f_.nodes[i].inputs) use(edge);
    for (const Result& result : f_.results) use(result.value);
    return outputs;
  }

  std::shared_ptr<const Function> take() { return std::move(parts_); }

 private:
  void copy(NodeId id) {
    Node node = f_[id];
    for (Edge& edge : node.inputs) edge = edges_.at(edge);
    std::erase_if(node.after, [&](NodeId before) { return !copies_.contains(before); });
    for (NodeId& before : node.after) before = copies_.at(before);
    const size_t count = node.outputs.size();
    const NodeId added = parts_->add(std::move(node));
    copies_[id] = added;
    for (size_t i = 0; i < count; ++i) edges_[{id, static_cast<int32_t>(i)}] = {added, static_cast<int32_t>(i)};
  }

  const Function& f_;
  std::shared_ptr<Function> parts_;
  std::map<Edge, Edge> edges_;
  std::map<NodeId, NodeId> copies_;
};

void set_roles(Function& f, NodeId id, const std::vector<Edge>& edges, const Roles& roles) {
  for (const auto& [name, edge] : roles)
    if (const auto at = std::find(edges.begin(), edges.end(), edge); at != edges.end())
      f[id].attributes.set(name, int64_t{at - edges.begin()});
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

FusedNode fuse(Function& f, const std::vector<NodeId>& members, Kind kind, const std::vector<NodeId>& again,
               Stands stands) {
  std::vector<NodeId> inside;
  for (const NodeId id : f.order())
    if (contains(members, id) || contains(again, id)) inside.push_back(id);
  const auto [first, last] = std::minmax_element(members.begin(), members.end());
  const NodeId place = stands == Stands::kFirst ? *first : *last;
  // The last to run: copies that are computed again have higher numbers than those that read them.
  const Node& named =
      f[*std::find_if(inside.rbegin(), inside.rend(), [&](NodeId id) { return contains(members, id); })];
  Parts parts(f, named.name);
  FusedNode fused{.id = place, .inputs = parts.copy(inside), .outputs = parts.publish(members)};
  Node node;
  node.parts = parts.take();
  node.name = named.name;
  node.stand_for(named);
  node.kind = kind, node.op = f.dialect->spelling(kind);
  node.inputs = fused.inputs;
  for (const Edge& edge : fused.outputs) node.outputs.push_back(f.output(edge));
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
  for (size_t i = 0; i < fused.outputs.size(); ++i) numbers[fused.outputs[i]] = static_cast<int32_t>(i);
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
  return fused;
}

void set_input_roles(Function& f, const FusedNode& fused, const Roles& roles) {
  set_roles(f, fused.id, fused.inputs, roles);
}

void set_output_roles(Function& f, const FusedNode& fused, const Roles& roles) {
  set_roles(f, fused.id, fused.outputs, roles);
}

Edge add_output(Function& f, NodeId fused, const std::string& name, ValueType type) {
  auto parts = std::make_shared<Function>(*f[fused].parts);
  const NodeId zero = parts->add_constant(
      name, {type, {}, std::make_shared<const std::vector<std::byte>>(size_of(type.dtype)), nullptr});
  parts->results.push_back({name, {zero, 0}});
  f[fused].parts = std::move(parts);
  f[fused].outputs.push_back({type, {}});
  return {fused, static_cast<int32_t>(f[fused].outputs.size()) - 1};
}

void add_input(Function& f, NodeId fused, Edge edge) {
  auto parts = std::make_shared<Function>(*f[fused].parts);
  parts->add_argument(f[edge.node].name, f.output(edge));
  f[fused].parts = std::move(parts);
  f[fused].inputs.push_back(edge);
}

bool can_fuse(const Function& f, const std::vector<NodeId>& members) {
  const Groups groups(f);
  std::vector<size_t> all;
  for (const NodeId id : members) all.push_back(groups.of(id));
  return groups.can_join(all);
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
    constant = constant && f[edge.node].kind == Kind::kConstant;  // those are computed while planning
  }
  if (constant) return false;
  const NodePart& part = part_of(node);
  switch (part.part) {
    case Part::kSum:
    case Part::kBias:
    case Part::kCast:
    case Part::kSame: return true;
    case Part::kPoint:
      return ops::ChainProgram::knows(part.line, f.output(node.inputs.back()).type.dtype,
                                      node.outputs.front().type.dtype);
    default: return false;
  }
}

}  // namespace npu::graph
