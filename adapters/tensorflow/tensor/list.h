// SPDX-License-Identifier: Apache-2.0
// Lists of tensors of the engine for nodes that TensorFlow runs.
#pragma once

#include "adapters/tensorflow/c_api/owned.h"

namespace npu::tensorflow {

/// A list of TensorFlow's with the same elements, each as `element` makes it. Raises Unimplemented when the value is no
/// list.
TensorHandle list_handle(TFE_Context* context, const anynpu_value* list,
                         TensorHandle (*element)(TFE_Context* context, anynpu_value* value));

}  // namespace npu::tensorflow
