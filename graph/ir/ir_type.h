// SPDX-License-Identifier: Apache-2.0
// The vendor's names (IR types) of TensorFlow's operators. ops.tsv lists those that differ: the first is the one we
// write, the others are accepted as well. An operator that is not listed has the same name in both.
//
// Sources: the guides' mix lists and dump examples, and the IR types that MindSpore (Apache-2.0) maps its primitives of
// the same meaning to.
#pragma once

#include <string_view>
#include <vector>

namespace npu::graph {

/// "MatMul" -> "MatMulV2", "Relu" -> "Relu".
std::string_view ir_type(std::string_view op);
/// All of the vendor's names, separated by blanks.
std::string_view ir_types(std::string_view op);
/// True when a user who writes `name` means this operator: TensorFlow's spelling or one of the vendor's.
bool is_called(std::string_view op, std::string_view name);
/// All listed operators of TensorFlow, by name.
std::vector<std::string_view> listed_operators();

}  // namespace npu::graph
