// SPDX-License-Identifier: Apache-2.0
// Products and quotients in which a zero wins over whatever it meets, NaN included; and the square of a difference.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/guarded.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kGuarded[] = {
    NPU_POINT2("div_no_nan", "self, other", kReal | kComplex, unless_zero(y, x / y)),
    NPU_POINT2("mul_no_nan", "self, other", kReal | kComplex, unless_zero(y, x* y)),
    NPU_POINT2("zero_or_div", "self, other", kReal | kComplex, unless_zero(x, x / y)),
    NPU_POINT2("zero_or_log", "self, other", kReal | kComplex, unless_zero(x, x* log_of(y))),
    NPU_POINT2("zero_or_log1p", "self, other", kReal | kComplex, unless_zero(x, x* log1p_of(y))),
    NPU_POINT2("squared_difference", "self, other", kNumeric, (x - y) * (x - y)),
};

std::span<const PointOp> guarded() { return kGuarded; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(guarded);
const PointFamily register_guarded("math", HWY_DYNAMIC_DISPATCH(guarded)());
}  // namespace npu::ops
#endif
