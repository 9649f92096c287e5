// SPDX-License-Identifier: Apache-2.0
// What GELU and the gated units share. Included once per instruction set, before the list of a family.
#if defined(NPU_OPS_ACTIVATION_GATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NPU_OPS_ACTIVATION_GATE_INL_H_
#undef NPU_OPS_ACTIVATION_GATE_INL_H_
#else
#define NPU_OPS_ACTIVATION_GATE_INL_H_
#endif

#include "ops/vector/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

// 1 + tanh(u) is 2 sigmoid(2u): this is 2u, sqrt(8/pi) (x + 0.044715 x³).
template <class T>
HWY_INLINE T tanh_argument(T x) {
  return T(1.5957691216057308) * x * (T(1) + T(0.044715) * x * x);
}

// d/dx of x · sigmoid(v), given s = sigmoid(v) and dv/dx.
template <class T>
HWY_INLINE T gate_slope(T x, T s, T dv) {
  return s + x * s * (T(1) - s) * dv;
}

// The inner derivative of tanh_argument: the cubic term counts three times.
template <class T>
HWY_INLINE T tanh_slope(T x) {
  const T dv = T(1.5957691216057308) * (T(1) + T(3 * 0.044715) * x * x);
  return gate_slope(x, sigmoid_of(tanh_argument(x)), dv);
}

// The derivative of sigmoid from its value.
template <class T>
HWY_INLINE T sigmoid_slope(T s) {
  return s * (T(1) - s);
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
