// SPDX-License-Identifier: Apache-2.0
// GELU in its exact, tanh and sigmoid forms, and their gradients.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/gelu.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/activation/gate-inl.h"
#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kGelu[] = {
    // Φ of a negative input is computed as the tail that it is: 1 + erf would cancel there.
    NPU_POINT1("gelu", "self", kReal, x* normal_of(x)),
    // One division: x · sigmoid(v) would round once more.
    NPU_POINT1("gelu_tanh", "self", kReal, x / (decltype(x)(1) + exp_of(-tanh_argument(x)))),
    NPU_POINT1("fast_gelu", "self", kReal, x / (decltype(x)(1) + exp_of(x * decltype(x)(-1.702)))),
    NPU_POINT2("gelu_backward", "grad_output, self", kReal, x* normal_slope(y)),
    NPU_POINT2("gelu_tanh_backward", "grad_output, self", kReal, x* tanh_slope(y)),
    NPU_POINT2("fast_gelu_backward", "grad_output, self", kReal,
               x* gate_slope(y, sigmoid_of(y* decltype(x)(1.702)), decltype(x)(1.702))),
};

std::span<const PointOp> gelu() { return kGelu; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("activation", gelu)
