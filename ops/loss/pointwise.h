// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/vector/elementwise/elementwise.h"

namespace npu::ops {

/// Kernels of one loss that is an expression of each element. Inputs of `loss` are the input, the target, a weight and
/// a parameter; `slope` takes the same, then the incoming gradient and the share of one element in the result.
struct LossKernel {
  const char* name;
  BlockKernel loss32, loss64, slope32, slope64;
  bool takes_log_target = false;  ///< the parameter says whether targets are logarithms

  /// True for the gradient of another line's loss with respect to another input: it has no loss of its own.
  constexpr bool gradient_only() const { return loss32 == nullptr; }
};

}  // namespace npu::ops
