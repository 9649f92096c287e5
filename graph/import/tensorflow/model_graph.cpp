// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/model_graph.h"

#include <vector>

#include "base/error.h"
#include "graph/import/tensorflow/dataflow/branch.h"
#include "graph/import/tensorflow/dataflow/guard.h"
#include "graph/import/tensorflow/dataflow/loop.h"

namespace npu::graph::tensorflow {
namespace {

/// Those of `names` that the model has.
std::vector<std::string> named(const Imported& model, std::vector<std::string> names) {
  std::erase_if(names, [&](const std::string& one) { return !value_named(model, one); });
  return names;
}

/// Values by name become results of `f`, which rewriting keeps up to date; those inside of loops do not.
void give_named(Function& f, const Imported& model) {
  const std::vector<bool> inside = in_frames(f);
  for (const auto& [name, value] : model.values)
    if (!inside[static_cast<size_t>(value.node)]) f.results.push_back({name, value});
}

/// Drops those that stand on one side of a condition.
void keep_what_comes(Function& f) {
  const Guards guards(f);
  std::erase_if(f.results, [&](const Result& result) {
    const auto guard = guards.of(result.value);
    return !guard || !guard->empty();
  });
}

void take_named(Function& f, Imported& model) {
  model.values.clear();
  for (const Result& result : f.results) model.values[result.name] = result.value;
  f.results.clear();
  std::erase_if(model.nodes, [&](const auto& node) { return !model.values.contains(node.second.front()); });
}

}  // namespace

bool makes_variable(std::string_view op) { return op == "VarHandleOp" || op == "VariableV2" || op == "Variable"; }

PartialShape asked_shape(const std::string& input, const PartialShape& own, const ImportOptions& options) {
  const auto asked = options.input_shapes.find(input);
  if (asked == options.input_shapes.end()) return own;
  require(!own.rank_known() || own.dims->size() == asked->second.size(),
          "input '{}' is {}; the shape {} given for it has another rank", input, to_string(own), asked->second);
  return {asked->second};
}

void name_values(const Function& f, Imported& model) {
  for (size_t i = 0; i < f.nodes.size(); ++i)
    for (size_t k = 0; k < f.nodes[i].outputs.size(); ++k) {
      const std::string name = fmt::format("{}:{}", f.nodes[i].name, k);
      model.values[name] = {static_cast<NodeId>(i), static_cast<int32_t>(k)};
      model.nodes[f.nodes[i].name].push_back(name);
    }
}

void make_functional(Function& f, Imported& model, const std::vector<std::string>& asked) {
  const std::vector<std::string> known = named(model, asked);
  for (const auto& [name, function] : std::map(model.program.functions)) {  // it grows
    make_loops(*function, model.program);
    make_branches(*function, model.program);
  }
  give_named(f, model);
  make_loops(f, model.program);
  keep_what_comes(f);
  make_branches(f, model.program);
  take_named(f, model);
  for (const std::string& one : known)
    require(value_named(model, one).has_value(),
            "the value of {} may not come: it is inside of a loop, or on one side of a condition; name what comes out "
            "of it, an Exit or a Merge",
            one);
}

std::optional<Edge> value_named(const Imported& model, const std::string& name) {
  const auto at = model.values.find(name.find(':') == std::string::npos ? name + ":0" : name);
  return at == model.values.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace npu::graph::tensorflow
