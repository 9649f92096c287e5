// SPDX-License-Identifier: Apache-2.0
// Tensors of TensorFlow as arrays of NumPy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/tensorflow/c_api/tf_api.h"

namespace npu::tensorflow::golden {

/// NumPy's name of an element type ("<f4"); "" for texts, handles and what else has no numbers. bfloat16, which NumPy
/// does not know, is written as the float32 that it is half of.
std::string_view npy_type(TF_DataType type);

/// What stands in front of the elements of such an array.
std::string npy_header(std::string_view type, const std::vector<int64_t>& shape);

/// `count` bfloat16 as float32.
std::vector<uint32_t> widened(const void* elements, size_t count);

}  // namespace npu::tensorflow::golden
