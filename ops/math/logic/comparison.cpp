// SPDX-License-Identifier: Apache-2.0
// Comparisons: the result is bool, NaN is unequal to everything.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/logic/comparison.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kComparison[] = {
    NPU_POINT2("eq", "self, other", kNumeric | kComplex | kRounded, x == y),
    NPU_POINT2("ne", "self, other", kNumeric | kComplex | kRounded, x != y),
    NPU_POINT2("gt", "self, other", kNumeric | kRounded, x > y),
    NPU_POINT2("ge", "self, other", kNumeric | kRounded, x >= y),
    NPU_POINT2("lt", "self, other", kNumeric | kRounded, x < y),
    NPU_POINT2("le", "self, other", kNumeric | kRounded, x <= y),
};

std::span<const PointOp> comparison() { return kComparison; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", comparison)
