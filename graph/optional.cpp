// SPDX-License-Identifier: Apache-2.0
#include "graph/optional.h"

namespace npu::graph {

std::string Optional::traits() const {
  if (!values_) return "nothing";
  std::string text = "optional of";
  for (const Value& value : *values_) text += " " + (value.object ? value.object->traits() : to_string(value.tensor));
  return text;
}

}  // namespace npu::graph
