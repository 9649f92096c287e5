// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/function.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/ir/waiting.h"

namespace npu::graph {

NodeId Function::add(Node node) {
  const auto id = static_cast<NodeId>(nodes.size());
  if (node.client_name.empty()) node.client_name = node.name;
  if (node.op.empty()) node.op = dialect->spelling(node.kind);
  node.name = free_name(node.name, id);
  nodes.push_back(std::move(node));
  return id;
}

void Function::rename(NodeId id, std::string node_name) {
  if ((*this)[id].name == node_name) return;
  names_.erase((*this)[id].name);
  (*this)[id].name = free_name(std::move(node_name), id);
}

/// `wanted`, or the first form of it with a suffix that is not taken; it is then.
std::string Function::free_name(std::string wanted, NodeId id) {
  std::string name = wanted;
  for (int suffix = 1; !names_.emplace(name, id).second; ++suffix) name = fmt::format("{}_{}", wanted, suffix);
  return name;
}

NodeId Function::add_argument(std::string argument_name, Output value) {
  Node node{.name = argument_name, .kind = Kind::kArgument, .outputs = {value}};
  node.attributes.set("index", static_cast<int64_t>(arguments.size()));
  const NodeId id = add(std::move(node));
  arguments.push_back({std::move(argument_name), std::move(value), id});
  return id;
}

NodeId Function::add_constant(std::string constant_name, Literal value) {
  Node node{
      .name = std::move(constant_name), .kind = Kind::kConstant, .outputs = {{value.type, PartialShape{value.shape}}}};
  node.attributes.set("value", std::move(value));
  return add(std::move(node));
}

NodeId Function::find(std::string_view node_name) const {
  const auto at = names_.find(node_name);
  return at == names_.end() ? -1 : at->second;
}

std::vector<NodeId> Function::order() const {
  Waiting waiting(nodes);
  Ready ready;
  size_t live = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].removed) continue;
    ++live;
    if (const auto id = static_cast<NodeId>(i); waiting.is_ready(id)) ready.push(id);
  }
  std::vector<NodeId> out;
  out.reserve(live);
  while (!ready.empty()) {
    out.push_back(ready.top());
    ready.pop();
    for (const NodeId user : waiting.users(out.back()))
      if (waiting.come(user)) ready.push(user);
  }
  if (out.size() != live) {
    NodeId stuck = 0;
    while (waiting.is_ready(stuck)) ++stuck;
    fail(Code::kNnInvalidParam, "function {}: node {} depends on itself", name, (*this)[stuck].name);
  }
  return out;
}

std::vector<bool> Function::needed_for(const std::vector<NodeId>& wanted) const {
  std::vector<bool> needed(nodes.size());
  std::vector<NodeId> open;
  const auto need = [&](NodeId id) {
    if (needed[static_cast<size_t>(id)]) return;
    needed[static_cast<size_t>(id)] = true;
    open.push_back(id);
  };
  for (const NodeId id : wanted) need(id);
  while (!open.empty()) {
    const Node& node = (*this)[open.back()];
    open.pop_back();
    for (const Edge& edge : node.inputs) need(edge.node);
    for (const NodeId id : node.after) need(id);
  }
  return needed;
}

void Function::replace(Edge from, Edge to) {
  for (Node& node : nodes)
    if (!node.removed) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  for (Result& result : results)
    if (result.value == from) result.value = to;
}

void Function::remove(NodeId id) {
  Node& dead = (*this)[id];
  dead.removed = true;
  names_.erase(dead.name);
  const auto bypass = [&](std::vector<NodeId>& waits) {
    const auto at = std::find(waits.begin(), waits.end(), id);
    if (at == waits.end()) return;
    waits.erase(at);
    for (const NodeId before : dead.after)
      if (std::find(waits.begin(), waits.end(), before) == waits.end()) waits.push_back(before);
    for (const Edge& edge : dead.inputs)
      if (std::find(waits.begin(), waits.end(), edge.node) == waits.end()) waits.push_back(edge.node);
  };
  for (Node& node : nodes)
    if (!node.removed) bypass(node.after);
  bypass(control_results);
}

void Function::compact() {
  std::vector<NodeId> all(nodes.size());
  std::iota(all.begin(), all.end(), 0);
  arrange(all);
}

void Function::arrange(const std::vector<NodeId>& order) {
  std::vector<NodeId> renumbered(nodes.size(), -1);
  std::vector<Node> arranged;
  for (const NodeId id : order) {
    if ((*this)[id].removed) continue;
    renumbered[static_cast<size_t>(id)] = static_cast<NodeId>(arranged.size());
    arranged.push_back(std::move((*this)[id]));
  }
  nodes = std::move(arranged);
  const auto renumber = [&](NodeId& id) { id = renumbered[static_cast<size_t>(id)]; };
  for (Node& node : nodes) {
    for (Edge& edge : node.inputs) renumber(edge.node);
    for (NodeId& before : node.after) renumber(before);
  }
  for (Argument& argument : arguments) renumber(argument.node);
  for (Result& result : results) renumber(result.value.node);
  for (NodeId& id : control_results) renumber(id);
  names_.clear();
  for (size_t i = 0; i < nodes.size(); ++i) names_.emplace(nodes[i].name, static_cast<NodeId>(i));
}

Function& Program::get(std::string_view name) const {
  const auto at = functions.find(name);
  if (at == functions.end()) {
    fail(Code::kNnInvalidParam, "function {} is called but not in the program; pass its definition with the caller's",
         name);
  }
  return *at->second;
}

const std::shared_ptr<Function>& Program::add(std::shared_ptr<Function> function) {
  return functions[function->name] = std::move(function);
}

std::vector<const Node*> origins(const Node& node) {
  if (!node.parts) return {&node};
  std::vector<const Node*> out;
  for (const Node& part : node.parts->nodes)
    if (part.kind != Kind::kArgument && part.kind != Kind::kConstant)  // no pass takes constants in: it made them
      for (const Node* origin : origins(part)) out.push_back(origin);
  return out;
}

Origin origin_of(const Node& node, int64_t output) {
  if (node.kind == Kind::kLoopSumEnd) return {&node, node.inputs.front().output};  // it stands for the loop
  if (!node.parts) return {&node, output};
  if (static_cast<size_t>(output) >= node.parts->results.size()) return {nullptr, 0};
  const Edge made = node.parts->results[static_cast<size_t>(output)].value;
  const Node& maker = (*node.parts)[made.node];
  if (maker.kind == Kind::kArgument || maker.kind == Kind::kConstant) return {nullptr, 0};
  return origin_of(maker, made.output);
}

std::vector<FunctionName> called_functions(const Node& node) {
  std::vector<FunctionName> out;
  for (const auto& [name, entry] : node.attributes.entries()) {
    if (const auto* one = std::get_if<FunctionName>(&entry.value)) out.push_back(*one);
    if (const auto* list = std::get_if<std::vector<FunctionName>>(&entry.value))
      out.insert(out.end(), list->begin(), list->end());
  }
  return out;
}

}  // namespace npu::graph
