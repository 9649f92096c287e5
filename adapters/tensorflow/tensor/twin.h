// SPDX-License-Identifier: Apache-2.0
// Variables of the NPU for nodes that TensorFlow runs: a twin on the host gets the value before and gives it back
// after. A data set keeps its variables for as long as it lives, so they move to their twin for good.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "adapters/tensorflow/c_api/owned.h"
#include "adapters/tensorflow/host/host.h"

namespace npu::tensorflow {

/// Runs `op` by TensorFlow's own kernel; values go there and come back, variables by their twins. `device` is ours.
std::vector<Value> run_values_on_host(TFE_Context* context, const char* op, const TFE_OpAttrs* attributes,
                                      std::span<const Attribute> more, std::span<anynpu_value* const> inputs,
                                      size_t output_count, const std::string& device);

}  // namespace npu::tensorflow
