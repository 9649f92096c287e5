// SPDX-License-Identifier: Apache-2.0
#include "graph/value/client_text.h"

#include "graph/import/tensorflow/value.h"

namespace npu::graph {

std::string client_text(const Dims& shape) { return client_text(PartialShape{shape}); }

std::string client_text(const PartialShape& shape) {
  if (!shape.dims) return "<unknown>";
  std::string text;
  for (const int64_t size : *shape.dims) {
    if (!text.empty()) text += ",";
    text += size == kUnknownDim ? "?" : std::to_string(size);
  }
  return "[" + text + "]";
}

std::string client_text(const ValueType& type) {
  if (type == ValueType::tensor(DType::kFloat)) return "float";
  if (type == ValueType::tensor(DType::kDouble)) return "double";
  if (type == ValueType::tensor(DType::kHalf)) return "half";
  return to_string(type);
}

int64_t client_number(const ValueType& type) { return tensorflow::data_type(type); }

}  // namespace npu::graph
