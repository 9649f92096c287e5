// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/model_graph.h"

#include "base/error.h"

namespace npu::graph::tensorflow {

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

std::optional<Edge> value_named(const Imported& model, const std::string& name) {
  const auto at = model.values.find(name.find(':') == std::string::npos ? name + ":0" : name);
  return at == model.values.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace npu::graph::tensorflow
