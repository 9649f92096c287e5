// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/frozen.h"

#include <algorithm>
#include <set>

#include "graph/import/tensorflow/dialect.h"
#include "graph/import/tensorflow/model_graph.h"
#include "graph/import/tensorflow/reader.h"
#include "graph/import/tensorflow/signatures.h"

namespace npu::graph::tensorflow {
namespace {

constexpr const char* kName = "model";

constexpr const char* kWay =
    "freeze variables into constants, with convert_variables_to_constants_v2(function); end the graph before other "
    "operators with out_nodes";

bool is_placeholder(std::string_view op) { return op == "Placeholder" || op == "PlaceholderV2"; }

/// What the results that are asked for stand on, and all inputs; everything where none are.
Reached reached(const GraphMessage& graph, const std::vector<std::string>& out_nodes) {
  if (out_nodes.empty()) return graph.reached();
  std::set<std::string> wanted;
  for (const std::string& one : out_nodes) wanted.emplace(spell(one).node);
  for (const NodeLink& node : graph.nodes())
    if (is_placeholder(node.op)) wanted.insert(node.name);
  return graph.reached(wanted);
}

/// Variables have no values in a graph, and those that are handed to it none that a model could be given.
void refuse_variables(const Function& f) {
  for (const Node& node : f.nodes) {
    const bool handed = is_placeholder(node.op) && node.outputs.front().type.kind == ValueKind::kResource;
    if (handed || makes_variable(node.op))
      fail(Code::kOpNotFound, "{} (node {}) stands for a variable; {}", node.op, node.name, kWay);
  }
}

std::set<NodeId> read_nodes(const Function& f) {
  std::set<NodeId> out;
  for (const Node& node : f.nodes)
    for (const Edge& edge : node.inputs) out.insert(edge.node);
  return out;
}

/// Lowering loops and branches leaves placeholders under this name for what their functions took and did not read.
void drop_unused_inputs(Function& f) {
  const std::set<NodeId> read = read_nodes(f);
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    Node& node = f.nodes[i];
    if (is_placeholder(node.op) && node.name.starts_with("unused_control_flow_input"))
      node.removed = !read.contains(static_cast<NodeId>(i));
  }
  for (Node& node : f.nodes) std::erase_if(node.after, [&](NodeId id) { return f[id].removed; });
  f.compact();
}

void make_arguments(Function& f, const ImportOptions& options) {
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    Node& node = f.nodes[i];
    if (!is_placeholder(node.op)) continue;
    const PartialShape own = node.attributes.get_or<PartialShape>("shape", PartialShape::unknown());
    node.outputs.front().shape = asked_shape(node.name, own, options);
    node.kind = Kind::kArgument, node.op = dialect().spelling(Kind::kArgument);
    node.attributes = {};
    node.attributes.set("index", static_cast<int64_t>(f.arguments.size()));
    f.arguments.push_back({node.name, node.outputs.front(), static_cast<NodeId>(i)});
  }
  for (const auto& [name, shape] : options.input_shapes)
    require(std::ranges::any_of(f.arguments, [&](const Argument& a) { return a.name == name; }),
            "a shape is given for input '{}', which the graph does not have", name);
}

/// Nodes that no other reads, and that are not there for their effect or left over.
std::vector<std::string> unread(const Function& f) {
  const std::set<NodeId> read = read_nodes(f);
  std::vector<std::string> out;
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    const Node& node = f.nodes[i];
    const bool left_over = node.kind == Kind::kConstant || node.kind == Kind::kArgument || node.stateful;
    if (!read.contains(static_cast<NodeId>(i)) && !node.outputs.empty() && !left_over &&
        node.outputs.front().type.is_tensor())
      out.push_back(node.name);
  }
  return out;
}

/// What loops and branches leave unread inside is no result.
void give_unread(Function& f, const Imported& model, const std::vector<std::string>& unread) {
  for (const std::string& one : unread)
    if (const auto value = value_named(model, one)) f.results.push_back({one, *value});
  require(!f.results.empty(), "every output of the graph is read by another node; name its results with out_nodes");
}

void give_asked(Function& f, const Imported& model, const std::vector<std::string>& asked) {
  for (const std::string& one : asked) {
    const auto value = value_named(model, one);
    require(value.has_value(), "out_nodes names '{}', which the graph does not have", one);
    f.results.push_back({one, *value});
  }
}

}  // namespace

Imported read_frozen(Bytes graph_def, const ImportOptions& options) {
  const GraphMessage graph(graph_def);
  const Reached parts = reached(graph, options.out_nodes);
  parts.refuse_unknown(kWay);
  Imported out;
  const auto f = read_graph(parts, {}, kName, known_operators(), out.program);
  drop_unused_inputs(*f);
  name_values(*f, out);
  refuse_variables(*f);
  make_arguments(*f, options);
  const std::vector<std::string> left = unread(*f);
  make_functional(*f, out, options.out_nodes);
  if (options.out_nodes.empty())
    give_unread(*f, out, left);
  else
    give_asked(*f, out, options.out_nodes);
  out.function = f->name;
  out.program.add(f);
  out.format = "TensorFlow";
  return out;
}

}  // namespace npu::graph::tensorflow
