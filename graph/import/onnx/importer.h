// SPDX-License-Identifier: Apache-2.0
// Walks the graphs of an ONNX file and puts functions together.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/import/imported.h"
#include "graph/import/onnx/model.h"
#include "graph/import/onnx/translation.h"

namespace npu::graph::onnx {

class Importer final : public Walker {
 public:
  Importer(const ModelView& model, const ImportOptions& options) : model_(model), options_(options) {}
  Imported run();

  void translate(const GraphView& graph, Scope& scope) override;
  Function& new_function(const std::string& name, Scope& scope, const Scope& outer) override;
  std::vector<std::string> captured(const std::vector<const GraphView*>& graphs, const Scope& outer) const override;
  void take_constants(const GraphView& graph, const Scope& outer, Scope& inner) const override;
  std::optional<ValueType> declared(const Function& function, Edge edge, std::string_view what) const override;
  const std::filesystem::path& folder() const override { return options_.folder; }

 private:
  void check_opsets() const;
  Scope outermost(Function& function, const GraphView& graph);
  void add_inputs(const GraphView& graph, Scope& scope);
  void add_results(const GraphView& graph, const Scope& scope);
  void add_asked_results(const Scope& scope);
  void translate(const NodeView& node, Scope& scope);
  void apply_rule(const NodeView& node, Scope& scope);
  bool inline_function(const NodeView& node, Scope& scope);
  void note_unknown(const NodeView& node, const Scope& scope);
  void refuse_unknown() const;

  const ModelView& model_;
  const ImportOptions& options_;
  Imported out_;
  std::set<std::string> names_;                              ///< of functions
  std::map<std::string, std::vector<std::string>> unknown_;  ///< operator -> its nodes
  int depth_ = 0;
};

}  // namespace npu::graph::onnx
