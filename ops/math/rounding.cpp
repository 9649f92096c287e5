// SPDX-License-Identifier: Apache-2.0
// Rounding to integers and to decimal places.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/rounding.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

// torch-npu's numbers of rounding modes: 1 (and, in older releases, 4) nearest, 2 down, 3 up, 5 towards zero, 7 what is
// left after that.
template <class T>
HWY_INLINE T round_off(T x, T mode) {
  const T toward_zero = mode == T(7) ? x - trunc_of(x) : trunc_of(x);
  const T directed = mode == T(2) ? floor_of(x) : (mode == T(3) ? ceil_of(x) : toward_zero);
  return mode == T(1) || mode == T(4) ? round_of(x) : directed;
}

constexpr PointOp kRounding[] = {
    NPU_POINT1("ceil", "self", kNumeric, ceil_of(x)),
    NPU_POINT1("floor", "self", kNumeric, floor_of(x)),
    NPU_POINT1("trunc", "self", kNumeric, trunc_of(x)),
    NPU_POINT1("round", "self", kNumeric, round_of(x)),
    NPU_POINT1("frac", "self", kNumeric, x - trunc_of(x)),
    NPU_POINT2("round_off", "self, mode=1", kReal, round_off(x, y)),
    // Divided by the power of ten: its inverse would be rounded already.
    NPU_POINT2("round_fraction", "self, scale=1", kReal, round_of(x* y) / y),
    NPU_POINT2("round_multiple", "self, scale=1", kReal, round_of(x / y) * y),
};

std::span<const PointOp> rounding() { return kRounding; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", rounding)
