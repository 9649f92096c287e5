// SPDX-License-Identifier: Apache-2.0
// Roots and powers. `power` is the general one; pow (pow.cpp) takes the short cuts.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/transcendental/power.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kPower[] = {
    NPU_POINT1("sqrt", "self", kReal | kComplex, sqrt_of(x)),
    // Two exact operations and not the processor's estimate.
    NPU_POINT1("rsqrt", "self", kReal | kComplex, decltype(x)(1) / sqrt_of(x)),
    NPU_POINT1("cube", "self", kReal | kComplex, x* x* x),
    NPU_POINT1("inverse_square", "self", kReal | kComplex, decltype(x)(1) / (x * x)),
    NPU_POINT2("power", "self, exponent", kNumeric | kComplex | kRounded, pow_of(x, y)),
};

std::span<const PointOp> power() { return kPower; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", power)
