// SPDX-License-Identifier: Apache-2.0
// Sums over windows of one part of planes, and their gradient: sums down the window first, then along it.
#pragma once

#include "base/dtype.h"
#include "ops/pooling/planes.h"

namespace npu::ops {

struct BoxPart {
  const PoolWindow* window;
  PlaneView in;   ///< planes of the input's size: read by sum, added to by spread
  PlaneView out;  ///< planes of the outputs: written by sum, read by spread
  void* line;     ///< room for one row of the input, width x lanes
  int64_t lanes;
  int64_t divisor;  ///< of every window; 0 = the product of the axes' covered elements
};

struct BoxKernel {
  void (*sum)(const BoxPart& part);     ///< out = sum of window / divisor
  void (*spread)(const BoxPart& part);  ///< in = sum over windows that hold the element of out / divisor
};
/// Kernels of the running CPU for float32 or float64.
const BoxKernel& box_kernel(DType slot);

}  // namespace npu::ops
