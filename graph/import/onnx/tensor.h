// SPDX-License-Identifier: Apache-2.0
// ONNX's TensorProto and element types as values of ours.
#pragma once

#include <filesystem>
#include <string>

#include "graph/import/message.h"
#include "graph/ir/attribute.h"

namespace npu::graph::onnx {

/// The dtype of TensorProto.DataType `number`; kUndefined for those without one here (float8, 4-bit types).
DType element_type(int64_t number);
/// ONNX's own word for it, for texts: "FLOAT8E4M3FN".
std::string element_name(int64_t number);

/// A tensor of the file, its elements taken from the message or from a file in `folder`. Raises 100006 when they do not
/// fit its shape and type, 100003 when data outside of the file are not there, 100026 for a type that is not computed.
Literal read_tensor(Bytes tensor, const std::filesystem::path& folder);
/// A sparse tensor as a dense one.
Literal read_sparse(Bytes tensor, const std::filesystem::path& folder);
/// The name a tensor carries.
std::string tensor_name(Bytes tensor);
std::string sparse_name(Bytes tensor);

}  // namespace npu::graph::onnx
