// SPDX-License-Identifier: Apache-2.0
// The larger, the smaller, and both: a NaN among the inputs is handed on.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/minmax.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kMinmax[] = {
    NPU_POINT2("maximum", "self, other", kNumeric | kMoves, max_of(x, y)),
    NPU_POINT2("minimum", "self, other", kNumeric | kMoves, min_of(x, y)),
    // The upper bound is applied last: where the bounds cross, it wins, as in torch.
    NPU_POINT3("clamp", "self, min?=lowest, max?=highest", kNumeric | kMoves, min_of(max_of(x, y), z)),
    NPU_POINT2("clamp_min", "self, min", kNumeric | kMoves, max_of(x, y)),
    NPU_POINT2("clamp_max", "self, max", kNumeric | kMoves, min_of(x, y)),
};

std::span<const PointOp> minmax() { return kMinmax; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", minmax)
