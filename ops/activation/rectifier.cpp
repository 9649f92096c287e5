// SPDX-License-Identifier: Apache-2.0
// Activations made of comparisons and slopes. NaN inputs stay NaN, as in torch.
#include "base/wrap.h"
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/rectifier.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

// Both ends belong to the dead zone, as in torch. False for NaN, which the lines below therefore hand on.
template <class T>
HWY_INLINE bool is_within(T x, T bound) {
  return x >= -bound && x <= bound;
}
template <class T>
HWY_INLINE T clamp6(T x) {
  return min_of(max_of(x, T(0)), T(6));
}
template <class T>
HWY_INLINE T hardswish_gradient(T gradient, T x) {
  const T sloped = x < T(3) ? gradient * (x / T(3) + T(0.5)) : gradient;
  // The kinks belong to the flat pieces: 0 at -3, the gradient itself at 3.
  return x <= T(-3) ? T(0) : sloped;
}

constexpr PointOp kRectifier[] = {
    NPU_POINT1("relu", "self", kNumeric | kMoves, max_of(x, decltype(x)(0))),
    NPU_POINT3("add_relu", "self, other, alpha=1", kNumeric | kRounded,
               max_of(wrap_add(x, wrap_multiply(z, y)), decltype(x)(0))),
    // `x <= y` and not the opposite: a NaN fails every comparison and takes the branch that keeps it.
    NPU_POINT3("threshold", "self, threshold=0, value=0", kNumeric | kMoves, x <= y ? z : x),
    NPU_POINT3("threshold_backward", "grad_output, self, threshold=0", kNumeric | kMoves, y <= z ? decltype(x)(0) : x),
    // Products with 0 or 1: an infinite or undefined gradient leaves its mark on closed elements as well.
    NPU_POINT2("relu_backward", "grad_output, self", kNumeric | kMoves,
               x*(y > decltype(x)(0) ? decltype(x)(1) : decltype(x)(0))),
    NPU_POINT3("clipped_relu_backward", "grad_output, self, max_val=6", kNumeric,
               x*(y > decltype(x)(0) && y < z ? decltype(x)(1) : decltype(x)(0))),
    // `x > 0`: a NaN takes the sloped branch, and the product keeps it.
    NPU_POINT2("leaky_relu", "self, negative_slope=0.01", kReal, x > decltype(x)(0) ? x : x * y),
    NPU_POINT3("leaky_relu_backward", "grad_output, self, negative_slope=0.01", kReal, y > decltype(x)(0) ? x : x * z),
    NPU_POINT2("prelu_by", "self, weight", kReal, x > decltype(x)(0) ? x : x * y),
    NPU_POINT3("prelu_backward_self", "grad_output, self, weight", kReal, y > decltype(x)(0) ? x : x * z),
    NPU_POINT2("prelu_backward_weight", "grad_output, self", kReal, y > decltype(x)(0) ? decltype(x)(0) : x * y),
    NPU_POINT3("hardtanh", "self, min_val=-1, max_val=1", kNumeric | kMoves, min_of(max_of(x, y), z)),
    NPU_POINT4("hardtanh_backward", "grad_output, self, min_val=-1, max_val=1", kReal | kMoves,
               y <= z || y >= w ? decltype(x)(0) : x),
    NPU_POINT2("hardshrink", "self, lambd=0.5", kReal | kRounded | kMoves, is_within(x, y) ? decltype(x)(0) : x),
    NPU_POINT3("hardshrink_backward", "grad_output, self, lambd=0.5", kReal | kRounded | kMoves,
               is_within(y, z) ? decltype(x)(0) : x),
    // sign(x) · (|x| - lambd) without the product: the bound takes the input's sign.
    NPU_POINT2("softshrink_by", "self, lambd=0.5", kReal, is_within(x, y) ? decltype(x)(0) : x - (x < -y ? -y : y)),
    NPU_POINT3("softshrink_backward", "grad_output, self, lambd=0.5", kReal | kMoves,
               is_within(y, z) ? decltype(x)(0) : x),
    // A division by 6, as torch has it: the product with 1/6 would round otherwise.
    NPU_POINT1("hardsigmoid", "self", kReal, clamp6(x + decltype(x)(3)) / decltype(x)(6)),
    NPU_POINT2("hardsigmoid_backward", "grad_output, self", kReal,
               abs_of(y) < decltype(x)(3) ? x / decltype(x)(6) : decltype(x)(0)),
    NPU_POINT1("hardswish", "self", kReal, x* clamp6(x + decltype(x)(3)) / decltype(x)(6)),
    NPU_POINT2("hardswish_backward", "grad_output, self", kReal, hardswish_gradient(x, y)),
};

std::span<const PointOp> rectifier() { return kRectifier; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("activation", rectifier)
