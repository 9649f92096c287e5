// SPDX-License-Identifier: Apache-2.0
// Weighted sums of resizing over one part of planes, and their gradient: down the image first, then along its rows.
#pragma once

#include "ops/image/resample.h"
#include "ops/pooling/planes.h"

namespace npu::ops {

struct ResamplePart {
  const ResampleAxes* axes;
  PlaneView small;  ///< planes of the input's size: read by resize, added to by spread
  PlaneView large;  ///< planes of the output's size: written by resize, read by spread
  void* line;       ///< room for one row of the input, width x lanes
  int64_t lanes;
};

struct ResampleKernel {
  void (*resize)(const ResamplePart& part);
  void (*spread)(const ResamplePart& part);  ///< small = the transpose of resize, applied to large
};
/// Kernels of the running CPU for float32 or float64.
const ResampleKernel& resample_kernel(DType slot);

}  // namespace npu::ops
