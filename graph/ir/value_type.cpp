// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/value_type.h"

#include <algorithm>

namespace npu::graph {

bool is_object(const ValueType& type) { return !type.is_tensor() || size_of(type.dtype) == 0; }

std::string to_string(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kResource: return "resource";
    case ValueKind::kVariant: return "variant";
    default: return std::string(name_of(type.dtype));
  }
}

bool PartialShape::known() const { return dims && std::find(dims->begin(), dims->end(), kUnknownDim) == dims->end(); }

std::string to_string(const PartialShape& shape) {
  if (!shape.dims) return "?";
  std::string text;
  for (const int64_t d : *shape.dims) {
    if (!text.empty()) text += ", ";
    text += d == kUnknownDim ? "?" : std::to_string(d);
  }
  return "[" + text + "]";
}

}  // namespace npu::graph
