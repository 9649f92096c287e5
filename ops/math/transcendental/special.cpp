// SPDX-License-Identifier: Apache-2.0
// The error function and other special functions.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/transcendental/special.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

template <class T>
HWY_INLINE T nan_to_num(T x, T nan, T above, T below) {
  // An integer is none of the three.
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    const T inf = std::numeric_limits<T>::infinity();
    return x != x ? nan : (x == inf ? above : (x == -inf ? below : x));
  }
}

constexpr PointOp kSpecial[] = {
    NPU_POINT1("erf", "self", kReal, erf_of(x)),
    NPU_POINT1("erfc", "self", kReal, erfc_of(x)),
    NPU_POINT1("erfinv", "self", kReal, erfinv_of(x)),
    NPU_POINT4("nan_to_num", "self, nan=0, posinf=0, neginf=0", kNumeric | kMoves, nan_to_num(x, y, z, w)),
};

std::span<const PointOp> special() { return kSpecial; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", special)
