// SPDX-License-Identifier: Apache-2.0
// Copies of functions that dump what their nodes give. Names, results and order stay; beside each output stands a node
// that reads it. A function that is called has a copy for each call, which knows through which calls it was reached.
#pragma once

#include <string>

#include "adapters/tensorflow/c_api/tf_api.h"

namespace npu::tensorflow::golden {

/// The name of such a copy of a function of this context; made once.
std::string dumping_copy(TFE_Context* context, const std::string& function);

}  // namespace npu::tensorflow::golden
