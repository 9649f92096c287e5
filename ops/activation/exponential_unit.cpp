// SPDX-License-Identifier: Apache-2.0
// Activations with an exponential branch: ELU, CELU, softplus.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/exponential_unit.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kExponentialUnit[] = {
    // expm1 and not exp - 1, which would lose all digits of a small negative input.
    NPU_POINT4("elu", "self, alpha=1, scale=1, input_scale=1", kReal,
               x < decltype(x)(0) ? expm1_of(x * w) * (y * z) : x * z),
    NPU_POINT5("elu_backward_input", "grad_output, self_or_result, alpha=1, scale=1, input_scale=1", kReal,
               y <= decltype(x)(0) ? x * v * z * w * exp_of(y * v) : x * w),
    NPU_POINT5("elu_backward_result", "grad_output, self_or_result, alpha=1, scale=1, input_scale=1", kReal,
               y <= decltype(x)(0) ? x * v * (y + z * w) : x * w),
    // The slope at exactly 0 is the positive side's, unlike elu's.
    NPU_POINT4("selu_backward", "grad_output, result, scale_alpha=1.7580993408473769, scale=1.0507009873554805", kReal,
               y < decltype(x)(0) ? x * (y + z) : x * w),
    NPU_POINT2("celu_by", "self, alpha=1", kReal, x < decltype(x)(0) ? expm1_of(x / y) * y : x),
    // Above the threshold torch returns the input itself. With the default of 20 the correction is below half an ulp of
    // float32, and e^x cannot overflow on the way.
    NPU_POINT3("softplus", "self, beta=1, threshold=20", kReal, x* y > z ? x : log1p_of(exp_of(x * y)) / y),
    NPU_POINT4("softplus_backward", "grad_output, self, beta=1, threshold=20", kReal,
               y* z > w ? x : x * sigmoid_of(y * z)),
};

std::span<const PointOp> exponential_unit() { return kExponentialUnit; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("activation", exponential_unit)
