// SPDX-License-Identifier: Apache-2.0
// Choosing between values by a condition.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/selection.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kSelection[] = {
    NPU_POINT3("where", "condition, self, other", kNumeric | kComplex | kCondition | kMoves, x ? y : z),
    NPU_POINT3("masked_fill", "mask, self, value", kNumeric | kComplex | kCondition | kMoves, x ? z : y),
    // Not 0: a NaN or an infinity that is masked leaves its mark, as the product with a mask of 0 does.
    NPU_POINT3("masked_scale", "mask, self, scale=1", kReal | kCondition, x ? y* z : y* decltype(y)(0)),
};

std::span<const PointOp> selection() { return kSelection; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", selection)
