// SPDX-License-Identifier: Apache-2.0
// Arithmetic of one or several elements.
#include "base/wrap.h"
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/arithmetic.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

// The least integer has no opposite: it stays, where plain C++ is undefined.
template <class T>
HWY_INLINE T negative_of(T x) {
  if constexpr (std::is_integral_v<T>)
    return wrap_subtract(T(0), x);
  else
    return -x;
}

// torch's two forms, each exact at its end.
// Near its end the formula counts back from there, so that weight 1 gives `to` itself.
template <class T>
HWY_INLINE T lerp_of(T from, T to, T weight) {
  const T step = to - from;
  return abs_of(weight) < decltype(abs_of(weight))(0.5) ? from + weight * step : to - step * (T(1) - weight);
}

constexpr PointOp kArithmetic[] = {
    NPU_POINT1("neg", "self", kNumeric | kComplex | kMoves, negative_of(x)),
    NPU_POINT1("abs", "self", kNumeric | kComplex | kMoves, abs_of(x)),
    NPU_POINT1("reciprocal", "self", kReal | kComplex, decltype(x)(1) / x),
    NPU_POINT1("square", "self", kReal | kComplex, x* x),
    NPU_POINT1("sign", "self", kNumeric | kComplex | kMoves, sign_of(x)),
    // As TensorFlow and ONNX have it: a NaN stays one.
    NPU_POINT1("sign_or_nan", "self", kNumeric | kComplex | kMoves, is_nan(x) ? x : sign_of(x)),
    // Integers wrap, as in torch: wrap_add and its kin are plain operators for floats.
    NPU_POINT3("add", "self, other, alpha=1", kNumeric | kComplex | kRounded, wrap_add(x, wrap_multiply(z, y))),
    NPU_POINT3("sub", "self, other, alpha=1", kNumeric | kComplex | kRounded, wrap_subtract(x, wrap_multiply(z, y))),
    NPU_POINT3("rsub", "self, other, alpha=1", kNumeric | kComplex | kRounded, wrap_subtract(y, wrap_multiply(z, x))),
    NPU_POINT2("mul", "self, other", kNumeric | kComplex, wrap_multiply(x, y)),
    NPU_POINT2("div", "self, other", kReal | kComplex, x / y),
    NPU_POINT4("addcmul", "self, tensor1, tensor2, value=1", kNumeric | kComplex,
               wrap_add(x, wrap_multiply(wrap_multiply(w, y), z))),
    NPU_POINT4("addcdiv", "self, tensor1, tensor2, value=1", kReal | kComplex, x + w * (y / z)),
    NPU_POINT3("lerp_by", "self, end, weight", kReal | kComplex, lerp_of(x, y, z)),
};

std::span<const PointOp> arithmetic() { return kArithmetic; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", arithmetic)
