// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/print.h"

#include "base/error.h"

namespace npu::graph {
namespace {

std::string typed(const Output& output) {
  return to_string(output.type) + (output.type.is_tensor() ? to_string(output.shape) : "");
}

std::string reference(const Function& f, Edge edge) {
  const bool single = f[edge.node].outputs.size() == 1;
  return single ? fmt::format("%{}", edge.node) : fmt::format("%{}:{}", edge.node, edge.output);
}

/// "a, b, c" of the texts of a list's members.
template <class List, class Text>
std::string joined(const List& list, Text&& text) {
  std::string out;
  for (const auto& member : list) out += (out.empty() ? "" : ", ") + text(member);
  return out;
}

/// Attributes beginning with "_" are the client's notes to itself.
std::string attributes_of(const Node& node) {
  std::string out;
  for (const auto& [name, entry] : node.attributes.entries())
    if (!name.starts_with('_')) out += fmt::format(" {}={}", name, to_string(entry.value));
  return out;
}

std::string line(const Function& f, NodeId id) {
  const Node& node = f[id];
  std::string out =
      fmt::format("  %{} = {}({})", id, node.op, joined(node.inputs, [&](Edge e) { return reference(f, e); }));
  out += attributes_of(node);
  if (!node.after.empty())
    out += " after " + joined(node.after, [](NodeId before) { return fmt::format("%{}", before); });
  out += fmt::format(" : {}  \"{}\"", joined(node.outputs, typed), node.name);
  if (node.parts) out += " of " + joined(origins(node), [](const Node* part) { return part->op; });
  return out + "\n";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

}  // namespace

std::string to_text(const Function& f) {
  std::string out =
      fmt::format("function {}({}) -> ({})\n", f.name,
                  joined(f.arguments, [](const Argument& a) { return a.name + ": " + typed(a.value); }),
                  joined(f.results, [&](const Result& r) { return r.name + ": " + typed(f.output(r.value)); }));
  for (const NodeId id : f.order())
    if (f[id].kind != Kind::kArgument) out += line(f, id);
  out += "  return " + joined(f.results, [&](const Result& r) { return reference(f, r.value); });
  if (!f.control_results.empty())
    out += " after " + joined(f.control_results, [](NodeId id) { return fmt::format("%{}", id); });
  return out + "\n";
}

std::string to_text(const Program& program) {
  std::string out;
  for (const auto& [name, function] : program.functions) out += (out.empty() ? "" : "\n") + to_text(*function);
  return out;
}

std::string to_graphviz(const Function& f) {
  std::string out = fmt::format("digraph \"{}\" {{\n  node [shape=box];\n", escaped(f.name));
  for (const NodeId id : f.order()) {
    const Node& node = f[id];
    out += fmt::format("  n{} [label=\"{}\\n{}\\n{}\"];\n", id, escaped(node.op), escaped(node.name),
                       escaped(joined(node.outputs, typed)));
    for (const Edge& e : node.inputs) out += fmt::format("  n{} -> n{};\n", e.node, id);
    for (const NodeId before : node.after) out += fmt::format("  n{} -> n{} [style=dashed];\n", before, id);
  }
  return out + "}\n";
}

}  // namespace npu::graph
