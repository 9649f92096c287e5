// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/session/slice.h"

#include <algorithm>
#include <set>
#include <utility>

#include "graph/import/tensorflow/dataflow/branch.h"
#include "graph/import/tensorflow/dataflow/closure.h"
#include "graph/import/tensorflow/dataflow/loop.h"
#include "graph/import/tensorflow/reader.h"
#include "graph/import/tensorflow/session/order.h"
#include "graph/import/tensorflow/session/tidy.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/literal.h"

namespace npu::graph::tensorflow {
namespace {

Edge value_of(const Function& f, const std::string& name, std::string_view what) {
  const Spelling s = spell(name);
  const NodeId id = f.find(s.node);
  require(id >= 0, "{} {} names a node that the graph does not have", what, name);
  require(s.index >= 0 && static_cast<size_t>(s.index) < f[id].outputs.size(), "{} {}: the node has {} outputs", what,
          name, f[id].outputs.size());
  return {id, s.index};
}

std::set<std::string> wanted_nodes(const SliceRequest& request) {
  std::set<std::string> out(request.targets.begin(), request.targets.end());
  for (const auto* list : {&request.feeds, &request.fetches})
    for (const std::string& one : *list) out.emplace(spell(one).node);
  for (const auto& [old, now] : request.replaced)
    out.insert({std::string(spell(old).node), std::string(spell(now).node)});
  return out;
}

/// Functions that the program has are not read again.
Reached without_known(Reached parts, const Program& program) {
  std::erase_if(parts.functions, [&](const FunctionLink* one) { return program.functions.contains(one->name); });
  return parts;
}

void feed(Function& f, const SliceRequest& request) {
  for (const auto& [old, now] : request.replaced)
    f.replace(value_of(f, old, "the feed"), value_of(f, now, "the value"));
  for (const std::string& one : request.feeds) {
    const Edge from = value_of(f, one, "the feed");
    const Output value{f.output(from).type, PartialShape::unknown()};
    NodeId given = f.add_argument(one, value);
    if (const auto at = request.decided.find(one); at != request.decided.end())
      given = f.add_constant(one, scalar_literal(at->second));
    f.replace(from, {given, 0});
  }
}

/// What is not fed has its default value.
void take_defaults(Function& f) {
  for (Node& node : f.nodes) {
    if (node.op != "PlaceholderWithDefault") continue;
    node.kind = Kind::kIdentity, node.op = f.dialect->spelling(node.kind);
    copy_attribute(node.attributes, "dtype", node.attributes, "T");
  }
}

void fetch(Function& f, const SliceRequest& request) {
  for (const std::string& one : request.fetches) f.results.push_back({one, value_of(f, one, "the fetch")});
  for (const std::string& one : request.targets) {
    const NodeId id = f.find(one);
    require(id >= 0, "the target {} is a node that the graph does not have", one);
    f.control_results.push_back(id);
  }
}

/// Drops what no fetch and no target stands on; where a loop goes round, it stands on what goes round.
void drop_rest(Function& f) {
  std::vector<NodeId> open = f.control_results;
  for (const Result& result : f.results) open.push_back(result.value.node);
  for (const Argument& argument : f.arguments) open.push_back(argument.node);
  for (Node& node : f.nodes) node.removed = true;
  while (!open.empty()) {
    Node& node = f[open.back()];
    open.pop_back();
    if (!std::exchange(node.removed, false)) continue;
    for (const Edge& edge : node.inputs) open.push_back(edge.node);
    open.insert(open.end(), node.after.begin(), node.after.end());
    if (const auto* next = node.attributes.find<std::string>(kTurnsBack)) open.push_back(f.find(*next));
  }
  f.compact();
}

/// Whether it looks at the device's overflow word: then it is an effect of every node that computes.
bool watches_overflow(const Function* f) {
  return std::ranges::any_of(f->nodes, [](const Node& node) { return is_float_status(node.kind); });
}

/// The function and those that its loops and branches have become.
void put_in_order(Function& f, const Program& program) {
  std::vector<Function*> all{&f};
  for (const auto& [name, one] : program.functions)
    if (name.starts_with(f.name + "/")) all.push_back(one.get());
  if (std::ranges::none_of(all, watches_overflow))
    for (Function* one : all) tidy(*one);
  for (Function* one : all) read_before_write(*one, program);
}

/// Nodes of npu_scope.without_npu_compile_scope(), but for what only moves values: a kernel on the host is lent the
/// variable's value, which the first assignment would not find.
void leave_to_host(Function& f) {
  for (Node& node : f.nodes) {
    if (!node.attributes.get_or<bool>("_without_npu_compile", false)) continue;
    const bool is_value = node.kind == Kind::kConstant || node.kind == Kind::kArgument || node.kind == Kind::kIdentity;
    const bool moves = node.kind == Kind::kRead || node.kind == Kind::kAssign;
    if (is_value || moves || as_call(node)) continue;
    node.kind = Kind::kOpaque, node.op = std::string(kOnHost) + node.op;
  }
}

}  // namespace

Slice read_slice(const GraphMessage& graph, const SliceRequest& request, const Catalogue& catalogue, Program& program) {
  const Reached parts = without_known(graph.reached(wanted_nodes(request)), program);
  Slice out;
  out.function = read_graph(parts, {}, request.name, catalogue, program);
  Function& f = *out.function;
  fetch(f, request);
  feed(f, request);
  take_defaults(f);
  drop_rest(f);
  Taken taken = take_resources(f, catalogue, request.scope);
  make_loops(f, program);
  make_branches(f, program);
  put_in_order(f, program);
  read_at_the_end(f, taken.variables);
  leave_to_host(f);
  out.resources = std::move(taken.resources);
  program.add(out.function);
  return out;
}

}  // namespace npu::graph::tensorflow
