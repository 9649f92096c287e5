// SPDX-License-Identifier: Apache-2.0
// Formulas of several operators as one line each: numbers stay in registers from one operator to the next. Each
// computes what its operators compute, in their order.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/vector/chain/joined.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kJoined[] = {
    NPU_POINT2("joined_sum", "x, y", kReal, x + y),
    NPU_POINT1("joined_silu", "x", kReal, x* sigmoid_of(x)),
    // The three ways in which exporters write it.
    NPU_POINT4("joined_gelu_of_quotient", "x, root, one, half", kReal, x*(erf_of(x / y) + z) * w),
    NPU_POINT4("joined_half_gelu_of_quotient", "x, root, one, half", kReal, (x * w) * (erf_of(x / y) + z)),
    NPU_POINT4("joined_half_gelu_of_product", "x, factor, one, half", kReal, (x * w) * (erf_of(x * y) + z)),
};

std::span<const PointOp> joined() { return kJoined; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("activation", joined)
