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

class Importer {
 public:
  Importer(const ModelView& model, const ImportOptions& options) : model_(model), options_(options) {}
  Imported run();

  /// All nodes of a graph, after its tensors; names of its values are then in `scope`.
  void translate(const GraphView& graph, Scope& scope);

  /// A function made of a graph inside of a node of `outer`: `values` are its own inputs, the rest of its arguments are
  /// what it takes from around it, which `captured` tells.
  Function& new_function(const std::string& name, Scope& scope, const Scope& outer);
  /// Names that these graphs read and that `outer` has, constants left out.
  std::vector<std::string> captured(const std::vector<const GraphView*>& graphs, const Scope& outer) const;
  /// Makes constants of `outer` known inside.
  void take_constants(const GraphView& graph, const Scope& outer, Scope& inner) const;

  /// What a sequence holds.
  DType element_of(const Function& function, Edge sequence) const;

  const std::filesystem::path& folder() const { return options_.folder; }

 private:
  void check_opsets() const;
  Scope outermost(Function& function, const GraphView& graph);
  void add_inputs(const GraphView& graph, Scope& scope);
  void add_results(const GraphView& graph, const Scope& scope);
  void add_asked_results(const Scope& scope);
  void translate(const NodeView& node, Scope& scope);
  bool inline_function(const NodeView& node, Scope& scope);
  void note_unknown(const NodeView& node, const Scope& scope);
  void refuse_unknown() const;

  const ModelView& model_;
  const ImportOptions& options_;
  Imported out_;
  std::set<std::string> names_;  ///< of functions
  std::map<std::string, std::vector<std::string>> unknown_;  ///< operator -> its nodes
  int depth_ = 0;
};

}  // namespace npu::graph::onnx
