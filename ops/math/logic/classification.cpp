// SPDX-License-Identifier: Apache-2.0
// Questions about the kind of a number; integers are always finite.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/logic/classification.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr float infinity(float) { return std::numeric_limits<float>::infinity(); }
constexpr double infinity(double) { return std::numeric_limits<double>::infinity(); }
// An integer is never equal to it: compared in double, where it exists.
constexpr double infinity(int64_t) { return std::numeric_limits<double>::infinity(); }

template <class T, class E>
HWY_INLINE bool is_equal(T x, E end) {
  return static_cast<E>(x) == end;
}

template <class T>
HWY_INLINE bool is_finite(T x) {
  if constexpr (std::is_integral_v<T>)
    return true;
  else
    return abs_of(x) < std::numeric_limits<T>::infinity();
}
template <class R>
HWY_INLINE bool is_finite(std::complex<R> x) {
  return is_finite(x.real()) && is_finite(x.imag());
}

// The sign of zeros and NaN counts.
HWY_INLINE bool is_negative(float x) { return std::bit_cast<int32_t>(x) < 0; }
HWY_INLINE bool is_negative(double x) { return std::bit_cast<int64_t>(x) < 0; }
HWY_INLINE bool is_negative(int64_t x) { return x < 0; }

// Infinities are close to themselves only.
// torch's rule: the tolerance grows with `other`, so the question is not symmetric.
template <class T>
HWY_INLINE bool is_close(T x, T y, T rtol, T atol, T equal_nan) {
  const auto allowed = abs_of(atol) + abs_of(rtol * y);
  const auto distance = abs_of(x - y);
  const bool near = is_finite(y) && distance <= allowed;
  return x == y || near || (equal_nan != T(0) && x != x && y != y);
}

constexpr PointOp kClassification[] = {
    NPU_POINT1("isposinf", "self", kNumeric, is_equal(x, infinity(x))),
    NPU_POINT1("isneginf", "self", kNumeric, is_equal(x, -infinity(x))),
    NPU_POINT1("isfinite", "self", kNumeric | kComplex, is_finite(x)),
    NPU_POINT1("signbit", "self", kNumeric, is_negative(x)),
    NPU_POINT5("isclose", "self, other, rtol=1e-5, atol=1e-8, equal_nan=0", kReal | kComplex, is_close(x, y, z, w, v)),
};

std::span<const PointOp> classification() { return kClassification; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", classification)
