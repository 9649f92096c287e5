// SPDX-License-Identifier: Apache-2.0
// Maximum over windows of one part of planes without its place: the rows of a window first, then along the line of
// their maxima, so that a window of k x k elements costs 2 k comparisons.
#pragma once

#include "base/dtype.h"
#include "ops/pooling/planes.h"

namespace npu::ops {

struct PlainMaxPart {
  const PoolWindow* window;
  PlaneView in;
  PlaneView best;
  void* line;  ///< room for one row of the input, width x lanes
  int64_t lanes;
  int64_t begin, end;  ///< rows of outputs, counted over all slices
};

/// Of equal elements any counts; a NaN counts before all numbers.
using PlainMaxKernel = void (*)(const PlainMaxPart& part);
/// The kernel of the running CPU for float32 or float64.
PlainMaxKernel plain_max_kernel(DType slot);

}  // namespace npu::ops
