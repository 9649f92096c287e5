// SPDX-License-Identifier: Apache-2.0
// What every importer of model files gives.
#pragma once

#include <filesystem>
#include <map>
#include <protozero/data_view.hpp>
#include <string>
#include <vector>

#include "graph/ir/function.h"

namespace npu::graph {

/// A model as an importer gives it.
struct Imported {
  Program program;  ///< all functions
  /// The model among them: arguments and results are the model's inputs and outputs, in order, with their names, dtypes
  /// and shapes (kUnknownDim where the file says none); every value is in Function::arguments or Function::results.
  std::string function;
  std::string format;                   ///< "ONNX 13", "TensorFlow"
  std::string producer;                 ///< what wrote the file
  std::map<std::string, Edge> values;   ///< of the model's function: the client's name of a tensor -> edge
  std::map<std::string, std::vector<std::string>> nodes;    ///< client's node -> names of its outputs in `values`
  std::map<std::string, std::vector<std::string>> symbols;  ///< input -> names of its dimensions; "" for a number
};

struct ImportOptions {
  std::map<std::string, Dims> input_shapes;  ///< instead of the file's; kUnknownDim allowed
  std::vector<std::string> out_nodes;        ///< "node:index": results instead of the file's
  std::filesystem::path folder;              ///< where external data lie
};

namespace onnx {
Imported read_model(protozero::data_view bytes, const ImportOptions& options);
}  // namespace onnx

namespace tensorflow {
Imported read_frozen(protozero::data_view graph_def, const ImportOptions& options);
}  // namespace tensorflow

}  // namespace npu::graph
