// SPDX-License-Identifier: Apache-2.0
// What importers of whole models give, whatever framework wrote the file.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "graph/ir/function.h"

namespace npu::graph {

struct ImportOptions {
  std::map<std::string, Dims> input_shapes = {};  ///< instead of the file's; kUnknownDim where a run decides
  std::vector<std::string> out_nodes = {};        ///< "node:index": the results, instead of the file's
  std::string signature = {};                     ///< of a SavedModel: what is asked of it; "": its default
  std::filesystem::path folder = {};              ///< where data that the file leaves outside of itself lie
};

/// A model as an importer gives it.
struct Imported {
  Program program = {};
  /// The model among the functions: its arguments and results are the model's inputs and outputs, in order, with their
  /// names, dtypes and shapes, kUnknownDim where the file says none.
  std::string function = {};
  std::string format = {};    ///< "ONNX 13"
  std::string producer = {};  ///< what wrote the file
  /// Of the model's function: the client's name of a tensor -> the value.
  std::map<std::string, Edge> values = {};
  /// The client's node -> its outputs, by their names in `values`.
  std::map<std::string, std::vector<std::string>> nodes = {};
  /// Input -> the names of its dimensions, empty for those that are numbers.
  std::map<std::string, std::vector<std::string>> symbols = {};
};

}  // namespace npu::graph
