// SPDX-License-Identifier: Apache-2.0
// Elements beyond the range of their type: found, counted, brought back.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace npu::ops {

/// What is told of elements before they are saturated.
struct Extremes {
  double least = 0, most = 0;  ///< of the finite ones; 0 where there are none
  int64_t infinities = 0, nans = 0;
  int64_t saturated = 0;  ///< at the ends of the range afterwards: infinite, or there before
  bool any_finite = false;
};

/// Kernels for one type, over `count` elements, `stride` elements apart.
struct RangeKernel {
  bool (*leaves)(const void* elements, int64_t stride, int64_t count);  ///< is any infinite or no number?
  void (*tell)(const void* elements, int64_t stride, int64_t count, Extremes& extremes);
  void (*saturate)(void* elements, int64_t stride, int64_t count);  ///< Inf -> largest number, NaN -> 0
};

/// Null for types that do not saturate: all but float16, bfloat16 and float32.
const RangeKernel* range_kernel(DType dtype);

}  // namespace npu::ops
