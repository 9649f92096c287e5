// SPDX-License-Identifier: Apache-2.0
// Sigmoid, tanh and the activations gated by them.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/sigmoid.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

template <class T>
HWY_INLINE T conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x;
  } else {
    return std::conj(x);
  }
}

template <class T>
HWY_INLINE T silu_slope(T x, T s) {
  return s * (T(1) + x * (T(1) - s));
}

// tanh(log(1 + e^x)) without the logarithm; from 20 on it rounds to 1.
template <class T>
HWY_INLINE T tanh_softplus(T x) {
  const T e = exp_of(x > T(20) ? T(20) : x);
  const T n = e * (e + T(2));
  return n / (n + T(2));
}
template <class T>
HWY_INLINE T mish_slope(T x, T t) {
  return t + x * sigmoid_of(x) * (T(1) - t * t);
}

template <class T>
HWY_INLINE T logit(T x) {
  return log_of(x / (T(1) - x));
}
// Outside the open interval the gradient is 0 where inputs are clamped (eps >= 0), else infinite at the ends and NaN
// beyond.
template <class T>
HWY_INLINE T logit_gradient(T gradient, T x, T eps) {
  const T inf = std::numeric_limits<T>::infinity();
  const bool clamps = !(eps < T(0));
  const T low = clamps ? eps : T(0);
  const bool outside = x < low || x > T(1) - low;
  const T end = x == T(0) || x == T(1) ? gradient * inf : gradient / (x * (T(1) - x));
  const T beyond = clamps ? T(0) : std::numeric_limits<T>::quiet_NaN();
  return outside ? beyond : end;
}

constexpr PointOp kSigmoid[] = {
    NPU_POINT1("sigmoid", "self", kReal | kComplex, sigmoid_of(x)),
    // torch's gradient of a complex number conjugates the slope; a graph conjugates before its SigmoidGrad.
    NPU_POINT2("sigmoid_backward", "grad_output, output", kReal | kComplex, x* conjugate((decltype(x)(1) - y) * y)),
    NPU_POINT2("sigmoid_grad", "grad_output, output", kReal | kComplex, x*(decltype(x)(1) - y) * y),
    NPU_POINT1("tanh", "self", kReal | kComplex, tanh_of(x)),
    NPU_POINT2("tanh_backward", "grad_output, output", kReal | kComplex, x*(decltype(x)(1) - y * y)),
    // One division: x · sigmoid(x) would round once more.
    NPU_POINT1("silu", "self", kReal | kComplex, x / (decltype(x)(1) + exp_of(-x))),
    NPU_POINT2("silu_backward", "grad_output, self", kReal, x* silu_slope(y, sigmoid_of(y))),
    NPU_POINT1("mish", "self", kReal, x* tanh_softplus(x)),
    NPU_POINT2("mish_backward", "grad_output, self", kReal, x* mish_slope(y, tanh_softplus(y))),
    // No exponent is positive, so nothing overflows, and log1p keeps the digits of a small tail.
    NPU_POINT1("log_sigmoid", "self", kReal, min_of(x, decltype(x)(0)) - log1p_of(exp_of(-abs_of(x)))),
    NPU_POINT1("log_sigmoid_buffer", "self", kReal, exp_of(-abs_of(x))),
    NPU_POINT2("log_sigmoid_backward", "grad_output, self", kReal, x* sigmoid_of(-y)),
    // A negative eps stands for none given: the input is not clamped, and 0 and 1 give infinities.
    NPU_POINT2("logit", "self, eps=-1", kReal,
               logit(y < decltype(x)(0) ? x : min_of(max_of(x, y), decltype(x)(1) - y))),
    NPU_POINT3("logit_backward", "grad_output, self, eps=-1", kReal, logit_gradient(x, y, z)),
};

std::span<const PointOp> sigmoid() { return kSigmoid; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("activation", sigmoid)
