// SPDX-License-Identifier: Apache-2.0
// Operators run by TensorFlow's own kernels on the CPU.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "adapters/tensorflow/c_api/owned.h"

namespace npu::tensorflow {

inline constexpr const char* kHost = "/job:localhost/replica:0/task:0/device:CPU:0";

/// An attribute with TensorFlow's encoding of its value.
using Attribute = std::pair<std::string, std::string>;

std::string type_value(TF_DataType type);

/// Runs `op` with attributes of either form. Raises what TensorFlow reports, without its note on how it was wrapped.
std::vector<TensorHandle> run_on_host(TFE_Context* context, const char* op, const TFE_OpAttrs* attributes,
                                      std::span<const Attribute> more, std::span<TFE_TensorHandle* const> inputs,
                                      size_t output_count);

}  // namespace npu::tensorflow
