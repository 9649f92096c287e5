// SPDX-License-Identifier: Apache-2.0
// The cross entropy of one row of logits, and its gradient, in float32 or float64.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace npu::ops {

struct CrossEntropyRow {
  const void* x;       ///< n logits
  const void* labels;  ///< n probabilities, or null: then all is at `label`
  int64_t label;
  void* exponentials;  ///< room for n elements
  void* gradient;      ///< n elements, may be x or labels; null when it is not wanted
  int64_t n;
};

/// Gives the loss: the sum of labels · (log of the sum of exponentials - x).
using CrossEntropyKernel = double (*)(const CrossEntropyRow& row);

/// The kernel of the running CPU for float32 or float64.
CrossEntropyKernel cross_entropy_kernel(DType slot);

}  // namespace npu::ops
