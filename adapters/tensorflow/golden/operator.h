// SPDX-License-Identifier: Apache-2.0
// The operator that hands what it reads to the dump, told to TensorFlow.
#pragma once

namespace npu::tensorflow::golden {

inline constexpr const char* kDumpOperator = "AnynpuGoldenDump";
/// Its attributes: the type of its input, and whose output that is.
inline constexpr const char *kTypeAttribute = "T", *kNodeAttribute = "node", *kOutputAttribute = "index";
inline constexpr const char* kLengthAttribute = "node_length";  ///< of the name

/// Raises Failure when TensorFlow does not take it.
void declare_operator();

}  // namespace npu::tensorflow::golden
