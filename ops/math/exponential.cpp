// SPDX-License-Identifier: Apache-2.0
// Exponentials and logarithms.
#include "ops/vector/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/exponential.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kExponential[] = {
    NPU_POINT1("exp", "self", kReal | kComplex, exp_of(x)),
    NPU_POINT1("log", "self", kReal | kComplex, log_of(x)),
};

std::span<const PointOp> exponential() { return kExponential; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(exponential);
const PointFamily register_exponential("math", HWY_DYNAMIC_DISPATCH(exponential)());
}  // namespace npu::ops
#endif
