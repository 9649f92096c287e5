// SPDX-License-Identifier: Apache-2.0
// Complex numbers from and to their parts.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/complex_parts.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

// 0 or π. -0 is not below 0 and has the angle 0; a NaN keeps itself.
template <class T>
HWY_INLINE T angle_of(T x) {
  return x < T(0) ? static_cast<T>(kPi) : (x != x ? x : T(0));
}
template <class R>
HWY_INLINE R angle_of(std::complex<R> x) {
  return std::arg(x);
}

constexpr PointOp kComplexParts[] = {
    NPU_POINT2("complex_of_parts", "real, imag", kReal | kMoves, std::complex(x, y)),
    NPU_POINT2("complex_of_polar", "abs, angle", kReal, std::complex(x* std::cos(y), x* std::sin(y))),
    NPU_POINT1("angle", "self", kReal | kComplex, angle_of(x)),
};

std::span<const PointOp> complex_parts() { return kComplexParts; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", complex_parts)
