// SPDX-License-Identifier: Apache-2.0
// Gradients told from the output: of the square root, its reciprocal and the reciprocal; softsign and its gradient.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/transcendental/root_backward.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

template <class T>
HWY_INLINE T squared(T x) {
  return x * x;
}

// No gradient above is none below, where the slope is infinite or NaN too: TensorFlow's rule, by which the square root
// of a masked 0 does not spoil a step.
constexpr PointOp kRootBackward[] = {
    NPU_POINT2("sqrt_backward", "grad_output, output", kReal, unless_zero(x, x* decltype(x)(0.5) / y)),
    NPU_POINT2("rsqrt_backward", "grad_output, output", kReal, unless_zero(x, x* decltype(x)(-0.5) * y * y * y)),
    NPU_POINT2("reciprocal_backward", "grad_output, output", kReal, unless_zero(x, -x* y* y)),
    NPU_POINT1("softsign", "self", kReal, x / (decltype(x)(1) + abs_of(x))),
    NPU_POINT2("softsign_backward", "grad_output, self", kReal, x / squared(decltype(x)(1) + abs_of(y))),
};

std::span<const PointOp> root_backward() { return kRootBackward; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(root_backward);
const PointFamily register_root_backward("math", HWY_DYNAMIC_DISPATCH(root_backward)());
}  // namespace npu::ops
#endif
