// SPDX-License-Identifier: Apache-2.0
// Roots.
#include "ops/vector/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/power.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kRoot[] = {
    NPU_POINT1("sqrt", "self", kReal | kComplex, sqrt_of(x)),
    NPU_POINT1("rsqrt", "self", kReal | kComplex, decltype(x)(1) / sqrt_of(x)),
};

std::span<const PointOp> root() { return kRoot; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(root);
const PointFamily register_root("math", HWY_DYNAMIC_DISPATCH(root)());
}  // namespace npu::ops
#endif
