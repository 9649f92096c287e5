// SPDX-License-Identifier: Apache-2.0
// Makes nodes compute in the dtypes chosen for them. Where a node gives one dtype and another takes a second, a Cast
// stands between: one for each value and dtype, in front of the first that reads it.
#include <algorithm>

#include "graph/passes/pattern/unfuse.h"
#include "graph/passes/pipeline.h"
#include "graph/precision/choice.h"

namespace npu::graph {
namespace {

/// True when every value of `narrow` is one of `wide`.
bool holds(DType wide, DType narrow) {
  if (wide == narrow || wide == DType::kDouble) return true;
  return wide == DType::kFloat && (narrow == DType::kHalf || narrow == DType::kBFloat16);
}

class Retyper {
 public:
  Retyper(Function& f, std::vector<Choice> choices, bool raises)
      : f_(f), choices_(std::move(choices)), raises_(raises), types_(f.nodes.size()) {
    for (size_t i = 0; i < f.nodes.size(); ++i)
      for (const Output& output : f.nodes[i].outputs) types_[i].push_back(output.type.dtype);
  }

  bool run() {
    const std::vector<NodeId> order = f_.order();
    governed_.resize(f_.nodes.size());
    for (const NodeId id : order) find_governed(id);
    for (const NodeId id : order) retype(id);
    for (const NodeId id : order) {
      connect(id);
      arranged_.push_back(id);
      publish(id);
    }
    for (Result& result : f_.results) result.value = brought(result.value, type_of(result.value));
    if (changed_) arrange();
    return changed_;
  }

 private:
  const Choice& choice(NodeId id) const { return choices_[static_cast<size_t>(id)]; }
  /// As the graph said before.
  DType type_of(Edge edge) const { return types_[static_cast<size_t>(edge.node)][static_cast<size_t>(edge.output)]; }
  DType now(Edge edge) const { return f_.output(edge).type.dtype; }

  void find_governed(NodeId id) {
    for (size_t i = 0; i < f_[id].inputs.size(); ++i)
      governed_[static_cast<size_t>(id)].push_back(governs_input(choice(id), f_, f_[id], i));
  }

  void set(Node& node, std::string name, const Attribute& value) {
    node.attributes.set(std::move(name), value, f_.dialect->encoded(value));
  }

  void retype(NodeId id) {
    const Choice& chosen = choice(id);
    if (chosen.compute == chosen.source) return;
    Node& node = f_[id];
    changed_ = true;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (governs_output(chosen, node, i)) node.outputs[i].type = ValueType::tensor(chosen.compute);
    const ValueType type = ValueType::tensor(chosen.compute);
    for (const std::string_view name : chosen.op->attributes)
      if (node.attributes.has(name)) set(node, std::string(name), type);
  }

  void connect(NodeId id) {
    const Choice& chosen = choice(id);
    for (size_t i = 0; i < f_[id].inputs.size(); ++i) {
      const Edge from = f_[id].inputs[i];
      const bool governed = governed_[static_cast<size_t>(id)][i];
      const DType rounded = governed && i < chosen.inputs.size() ? chosen.inputs[i] : DType::kUndefined;
      Edge to = brought(from, rounded != DType::kUndefined ? rounded : governed ? chosen.compute : type_of(from));
      if (rounded != DType::kUndefined) to = cast(to, chosen.compute);
      f_[id].inputs[i] = to;  // casts have been added: no reference to the node lives on
    }
  }

  /// What readers see of outputs that are rounded on the way out.
  void publish(NodeId id) {
    const std::vector<DType> rounded = choice(id).outputs;
    for (size_t i = 0; i < rounded.size(); ++i) {
      const Edge edge{id, static_cast<int32_t>(i)};
      if (rounded[i] != DType::kUndefined && rounded[i] != now(edge)) published_[edge] = cast(edge, rounded[i]);
    }
  }

  /// The value of `edge` as `dtype`. Casts on the way to it that lose nothing are left out.
  Edge brought(Edge edge, DType dtype) {
    if (const auto at = published_.find(edge); at != published_.end()) edge = at->second;
    if (!is_floating(dtype)) return edge;
    Edge earliest = edge;
    std::vector<DType> crossed;
    for (Edge at = edge; f_[at.node].kind == Kind::kCast;) {
      // Where everything is raised, so is what a cast of the program would have rounded.
      const bool undone = raises_ && now(at) == DType::kHalf && static_cast<size_t>(at.node) < types_.size();
      if (!undone) crossed.push_back(now(at));
      at = f_[at.node].inputs.front();
      if (!is_floating(now(at))) break;
      if (!std::all_of(crossed.begin(), crossed.end(), [&](DType type) { return holds(type, now(at)); })) continue;
      earliest = at;
      if (now(at) == dtype) break;
    }
    const Edge found = now(earliest) != dtype && now(edge) == dtype ? edge : cast(earliest, dtype);
    changed_ |= found != edge;
    return found;
  }

  /// Puts each cast in front of the node for which it was made.
  void arrange() {
    std::vector<NodeId> renumbered(f_.nodes.size(), -1);
    for (size_t i = 0; i < arranged_.size(); ++i)
      renumbered[static_cast<size_t>(arranged_[i])] = static_cast<NodeId>(i);
    const auto renumber = [&](NodeId& id) { id = renumbered[static_cast<size_t>(id)]; };
    Function out(f_.name, *f_.dialect);
    for (const NodeId id : arranged_) {
      Node& node = f_[id];
      for (Edge& edge : node.inputs) renumber(edge.node);
      for (NodeId& before : node.after) renumber(before);
      out.add(std::move(node));
    }
    out.arguments = std::move(f_.arguments);
    out.results = std::move(f_.results);
    out.control_results = std::move(f_.control_results);
    for (Argument& argument : out.arguments) renumber(argument.node);
    for (Result& result : out.results) renumber(result.value.node);
    for (NodeId& id : out.control_results) renumber(id);
    f_ = std::move(out);
  }

  Edge cast(Edge edge, DType to) {
    if (now(edge) == to) return edge;
    const auto [at, fresh] = casts_.try_emplace({edge, to});
    if (!fresh) return at->second;
    changed_ = true;
    const ValueType from_type = f_.output(edge).type, to_type = ValueType::tensor(to);
    Node node{.name = fmt::format("{}/{}", f_[edge.node].name, name_of(to)), .kind = Kind::kCast, .inputs = {edge}};
    node.outputs = {{to_type, f_.output(edge).shape}};
    node.functions = f_[edge.node].functions;
    set(node, "SrcT", from_type), set(node, "DstT", to_type), set(node, "Truncate", false);
    const NodeId id = f_.add(std::move(node));
    arranged_.push_back(id);
    return at->second = {id, 0};
  }

  Function& f_;
  const std::vector<Choice> choices_;
  const bool raises_;
  std::vector<std::vector<DType>> types_;    ///< of outputs, before
  std::vector<std::vector<bool>> governed_;  ///< of inputs
  std::map<std::pair<Edge, DType>, Edge> casts_;
  std::map<Edge, Edge> published_;
  std::vector<NodeId> arranged_;
  bool changed_ = false;
};

std::vector<NodePrecision> precisions_of(const Function& f, const std::vector<Choice>& choices) {
  std::vector<NodePrecision> out;
  for (size_t i = 0; i < choices.size(); ++i) {
    const Choice& c = choices[i];
    if (c.source == DType::kUndefined) continue;
    out.push_back({f.nodes[i].name, f.nodes[i].op, c.source, c.compute, c.inputs, c.outputs, c.why});
  }
  return out;
}

}  // namespace

bool set_precision(Function& f, const PassOptions& options, PassReport& report) {
  if (options.precision.idle()) return false;
  // Choices are made for nodes of the client's, and a loop brings bodies with fused ones.
  if (std::ranges::any_of(f.nodes, [](const Node& node) { return node.parts != nullptr; })) f = unfused(f);
  std::vector<Choice> choices = choose(f, options.precision);
  report.precision = precisions_of(f, choices);
  return Retyper(f, std::move(choices), options.precision.mode().policy == PrecisionPolicy::kRaise).run();
}

}  // namespace npu::graph
