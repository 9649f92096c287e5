// SPDX-License-Identifier: Apache-2.0
// Circular and hyperbolic functions and their inverses.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/transcendental/trigonometric.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kTrigonometric[] = {
    // Arguments too large for the reduction are rare: those elements are computed again by the library.
    NPU_POINT1_RARE("sin", "self", kReal | kComplex, sin_of(x), is_beyond_reduction(x), std::sin(x)),
    NPU_POINT1_RARE("cos", "self", kReal | kComplex, cos_of(x), is_beyond_reduction(x), std::cos(x)),
    NPU_POINT1_RARE("tan", "self", kReal | kComplex, tan_of(x), is_beyond_reduction(x), std::tan(x)),
    NPU_POINT1("sinc", "self", kReal | kComplex, sinc_of(x)),
    NPU_POINT1("asin", "self", kReal | kComplex, asin_of(x)),
    NPU_POINT1("acos", "self", kReal | kComplex, acos_of(x)),
    NPU_POINT1("atan", "self", kReal | kComplex, atan_of(x)),
    NPU_POINT2("atan2", "self, other", kReal | kRounded, atan2_of(x, y)),
    NPU_POINT1("sinh", "self", kReal | kComplex, sinh_of(x)),
    NPU_POINT1("cosh", "self", kReal | kComplex, cosh_of(x)),
    NPU_POINT1("asinh", "self", kReal | kComplex, asinh_of(x)),
    NPU_POINT1("acosh", "self", kReal | kComplex, acosh_of(x)),
    NPU_POINT1("atanh", "self", kReal | kComplex, atanh_of(x)),
};

std::span<const PointOp> trigonometric() { return kTrigonometric; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", trigonometric)
