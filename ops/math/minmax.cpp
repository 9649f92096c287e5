// SPDX-License-Identifier: Apache-2.0
// The larger, the smaller, and both: a NaN among the inputs is handed on.
#include "ops/vector/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/minmax.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kMinmax[] = {
    NPU_POINT2("maximum", "self, other", kNumeric, max_of(x, y)),
    NPU_POINT2("minimum", "self, other", kNumeric, min_of(x, y)),
    NPU_POINT3("clamp", "self, min?=lowest, max?=highest", kNumeric, min_of(max_of(x, y), z)),
    NPU_POINT2("clamp_min", "self, min", kNumeric, max_of(x, y)),
    NPU_POINT2("clamp_max", "self, max", kNumeric, min_of(x, y)),
};

std::span<const PointOp> minmax() { return kMinmax; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", minmax)
