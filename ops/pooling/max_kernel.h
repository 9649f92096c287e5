// SPDX-License-Identifier: Apache-2.0
// Maximum over windows of one part of planes, with the place where it was found.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/dtype.h"
#include "ops/pooling/planes.h"

namespace npu::ops {

/// Places are as wide as the elements, so that vector masks fit both.
template <class T>
using PlaceOf = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

/// What a place counts: elements of the input plane, or elements of the window (a byte is enough for those).
enum class Place { kPlane, kWindow };

struct MaxPart {
  const PoolWindow* window;
  PlaneView in;
  PlaneView best;
  void* place;  ///< dense: outputs x lanes
  int64_t lanes;
  Place meaning;
};

/// Fills best and place. The first of equal elements counts, and a NaN before all numbers, the last one seen.
using MaxKernel = void (*)(const MaxPart& part);
/// The kernel of the running CPU for float32 or float64.
MaxKernel max_kernel(DType slot);

/// Gradients of one part's outputs, for where their maxima are; these are found anew.
struct MaxGradPart {
  const PoolWindow* window;  ///< fixed windows
  PlaneView in;
  PlaneView grad;  ///< of the input; zeros, unless windows cover every element and do not meet
  PlaneView out;   ///< gradient of the outputs
  int64_t lanes;
};
/// Adds output by output, in row-major order.
using MaxGradKernel = void (*)(const MaxGradPart& part);
MaxGradKernel max_grad_kernel(DType slot);

}  // namespace npu::ops
