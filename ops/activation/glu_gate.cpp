// SPDX-License-Identifier: Apache-2.0
// The gates of glu.cpp: `self` is the gated value. Lines ending in _gate are gradients with respect to the gate; those
// with respect to the value are the gates themselves, applied to the gradient.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/glu_gate.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/activation/gate-inl.h"
#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kGluGate[] = {
    NPU_POINT2("gate_sigmoid", "self, gate", kReal, x* sigmoid_of(y)),
    NPU_POINT3("gate_sigmoid_gate", "grad_output, self, gate", kReal, x* y* sigmoid_slope(sigmoid_of(z))),
    NPU_POINT2("gate_silu", "self, gate", kReal, x* y* sigmoid_of(y)),
    NPU_POINT3("gate_silu_gate", "grad_output, self, gate", kReal, x* y* gate_slope(z, sigmoid_of(z), decltype(x)(1))),
    NPU_POINT2("gate_gelu", "self, gate", kReal, x* y* normal_of(y)),
    NPU_POINT3("gate_gelu_gate", "grad_output, self, gate", kReal, x* y* normal_slope(z)),
    NPU_POINT2("gate_gelu_tanh", "self, gate", kReal, x* y* sigmoid_of(tanh_argument(y))),
    NPU_POINT3("gate_gelu_tanh_gate", "grad_output, self, gate", kReal, x* y* tanh_slope(z)),
};

std::span<const PointOp> glu_gate() { return kGluGate; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("activation", glu_gate)
