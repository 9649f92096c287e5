// SPDX-License-Identifier: Apache-2.0
// Update kernels of the optimisers. Blocks and parameters are those of the enums, in order.
#pragma once

#include "ops/optimizer/update.h"

namespace npu::ops {

/// Parameters of the Adam kernels. Whoever prepares them works out everything that is the same for all elements.
enum AdamParameter : size_t {
  kDecay,  ///< the parameter is multiplied by this first (1 - lr · weight decay)
  kBeta1,
  kBeta2,
  kStepSize,   ///< lr / (1 - beta1^t)
  kRootScale,  ///< 1 / sqrt(1 - beta2^t)
  kEpsilon,
  kSign,      ///< -1 maximises
  kMomentum,  ///< share of the new first moment in the step, and …
  kGradient,  ///< … of the gradient (nesterov)
  kAdamParameters,
};

/// Parameters of the SGD kernel.
enum SgdParameter : size_t {
  kScale,
  kWeightDecay,
  kFactor,
  kUndamped,
  kRate,
  kNesterov,
  kFirst,
  kMaximize,
  kSgdParameters
};

struct UpdateKernels {
  UpdateKernel adam;      ///< param, m, v, grad
  UpdateKernel amsgrad;   ///< param, m, v, grad, largest v
  UpdateKernel momentum;  ///< param, grad, momentum buffer
  UpdateKernel plain;     ///< param, grad
  UpdateKernel scale;     ///< grad is multiplied by param[0]
  /// True when all of x[0, n) are finite; the same walk as scale.
  bool (*finite)(const void* x, int64_t n);
};

/// Kernels of the running CPU.
const UpdateKernels& update_kernels(DType slot);

}  // namespace npu::ops
