// SPDX-License-Identifier: Apache-2.0
// Shapes and types as the error sentences of TensorFlow have them: programs search for these.
#pragma once

#include <string>

#include "graph/ir/value_type.h"

namespace npu::graph {

/// "[2,3]", "[]" for a scalar.
std::string client_text(const Dims& shape);
/// "[?,3]", "<unknown>" where not even the rank is known.
std::string client_text(const PartialShape& shape);
/// "float", "half", "int32", "variant".
std::string client_text(const ValueType& type);
/// The number of the type: some sentences print that instead of the name.
int64_t client_number(const ValueType& type);

}  // namespace npu::graph
