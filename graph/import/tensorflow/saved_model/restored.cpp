// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/saved_model/restored.h"

#include <set>

namespace npu::graph::tensorflow {
namespace {

/// The nodes of the graph, or of one of its functions, by name.
using Nodes = std::map<std::string_view, const NodeLink*>;

struct Scope {
  Nodes nodes;
  std::map<std::string_view, std::string> arguments;  ///< of a function: the node of the graph that it was given
};

class Restoring {
 public:
  explicit Restoring(const GraphMessage& graph) : graph_(graph) {}

  std::map<std::string, Restored> of(const std::string& restore_op) {
    Scope scope;
    const Reached reached = graph_.reached({std::string(spell(restore_op).node)});
    for (const NodeLink* node : reached.nodes) scope.nodes[node->name] = node;
    visit(scope);
    return std::move(out_);
  }

 private:
  void visit(const Scope& scope) {
    for (const auto& [name, node] : scope.nodes) {
      if (node->op == "AssignVariableOp" || node->op == "Assign") note(scope, *node);
      for (const std::string& called : node->functions) visit_function(scope, *node, called);
    }
  }

  void visit_function(const Scope& caller, const NodeLink& call, const std::string& name) {
    const FunctionLink* function = graph_.function(name);
    if (function == nullptr || !visited_.insert(name).second) return;
    Scope scope;
    for (const NodeLink& node : function->nodes) scope.nodes[node.name] = &node;
    for (size_t i = 0; i < function->arguments.size() && i < call.inputs.size(); ++i)
      scope.arguments[function->arguments[i]] = source(caller, call.inputs[i]).first;
    visit(scope);
  }

  /// The node and output behind any identities; of an argument the node of the graph that it stands for.
  std::pair<std::string, int32_t> source(const Scope& scope, std::string_view input) const {
    for (size_t steps = 0; steps <= scope.nodes.size(); ++steps) {
      const Spelling s = spell(input);
      if (const auto at = scope.arguments.find(s.node); at != scope.arguments.end()) return {at->second, 0};
      const auto at = scope.nodes.find(s.node);
      if (at == scope.nodes.end() || at->second->op != "Identity" || at->second->inputs.empty())
        return {std::string(s.node), s.index};
      input = at->second->inputs.front();
    }
    return {};  // identities in a circle
  }

  static std::string text_of(const Scope& scope, const NodeLink& restore, size_t input, size_t index) {
    const auto at = scope.nodes.find(spell(restore.inputs[input]).node);
    if (at == scope.nodes.end()) return {};
    const Attribute value = attribute_of(at->second->bytes, "value");
    const auto* literal = std::get_if<Literal>(&value);
    if (literal == nullptr || literal->strings == nullptr || index >= literal->strings->size()) return {};
    return (*literal->strings)[index];
  }

  /// variable = output of RestoreV2(prefix, names, slices)
  void note(const Scope& scope, const NodeLink& assign) {
    if (assign.inputs.size() < 2) return;
    const auto [value, index] = source(scope, assign.inputs[1]);
    const auto at = scope.nodes.find(value);
    if (at == scope.nodes.end() || at->second->op != "RestoreV2" || at->second->inputs.size() < 3 || index < 0) return;
    const auto place = static_cast<size_t>(index);
    const std::string key = text_of(scope, *at->second, 1, place);
    if (!key.empty()) out_[source(scope, assign.inputs[0]).first] = {key, text_of(scope, *at->second, 2, place)};
  }

  const GraphMessage& graph_;
  std::set<std::string> visited_;
  std::map<std::string, Restored> out_;
};

}  // namespace

std::map<std::string, Restored> restored_variables(const GraphMessage& graph, const std::string& restore_op) {
  if (restore_op.empty()) return {};
  return parsed("how the SavedModel restores variables", [&] { return Restoring(graph).of(restore_op); });
}

}  // namespace npu::graph::tensorflow
