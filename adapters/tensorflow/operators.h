// SPDX-License-Identifier: Apache-2.0
// The vendor's own operators, told to TensorFlow so that graphs may hold them. On the NPU the engine has a node of
// each; on the host TensorFlow runs the small kernels given here. Python finds them in npu_device/gen_npu_ops.py, with
// a wrapper that TensorFlow writes for each.
#pragma once

#include <vector>

#include "adapters/tensorflow/c_api/tf_api.h"

namespace npu::tensorflow {

/// One operator. Inputs, outputs and attributes are written as TensorFlow's REGISTER_OP has them: "x: T", "T: {half}".
struct Declaration {
  const char* name;
  std::vector<const char*> inputs, outputs, attributes;
  bool stateful;
  void (*shapes)(TF_ShapeInferenceContext* context, TF_Status* status);
  void (*on_host)(void* unused, TF_OpKernelContext* context);  ///< null: the CPU has no kernel
};

/// All of them; a new operator is one entry here and its node in the engine.
const std::vector<Declaration>& declarations();

}  // namespace npu::tensorflow
