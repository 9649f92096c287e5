// SPDX-License-Identifier: Apache-2.0
// An ONNX file as its parts: nothing is understood yet but who is called what. Tensors and sub-graphs stay bytes, which
// must outlive all of this.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/import/message.h"
#include "graph/ir/attribute.h"

namespace npu::graph::onnx {

struct NodeView {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs;  ///< empty names: left out
  Attributes attributes;                     ///< numbers, texts and lists of them
  std::map<std::string, Bytes> tensors, sparse_tensors, graphs, types;
  std::map<std::string, std::string> references;  ///< attribute -> that of the function's caller which it stands for
};

/// A tensor, or a sequence or optional of tensors, as far as the file tells.
struct ValueView {
  std::string name;
  ValueType type;
  PartialShape shape;
  std::vector<std::string> symbols;  ///< by dimension; empty for numbers
  int64_t element = 0;               ///< TensorProto.DataType
  std::optional<ValueType> held;     ///< of an optional: what it holds
};

struct GraphView {
  std::string name;
  std::vector<NodeView> nodes;
  std::vector<std::pair<std::string, Bytes>> initializers, sparse_initializers;
  std::vector<ValueView> inputs, outputs, values;
};

using Opsets = std::map<std::string, int64_t>;  ///< by domain; "" is ONNX's own

struct FunctionView {
  std::vector<std::string> inputs, outputs;
  std::vector<NodeView> nodes;
  Attributes defaults;
  Opsets opsets;
};

struct ModelView {
  int64_t ir_version = 0;
  std::string producer, producer_version;
  Opsets opsets;
  Bytes graph;
  std::map<std::pair<std::string, std::string>, FunctionView> functions;  ///< by domain and name
};

/// Raise 100006 on damaged bytes.
ModelView read_parts(Bytes model);
GraphView read_graph(Bytes graph);
/// A type, as a value without a name.
ValueView read_value_type(Bytes type);

}  // namespace npu::graph::onnx
