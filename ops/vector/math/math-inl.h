// SPDX-License-Identifier: Apache-2.0
// Mathematical functions of one element, written without branches so that loops over them become vector code.
// Float versions are our own (the -inl files next to this one); double and complex ones call the C++ library. No
// include guard of the usual kind: foreach_target re-includes this file once per instruction set.
#if defined(NPU_OPS_VECTOR_MATH_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NPU_OPS_VECTOR_MATH_MATH_INL_H_
#undef NPU_OPS_VECTOR_MATH_MATH_INL_H_
#else
#define NPU_OPS_VECTOR_MATH_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/wrap.h"

// clang-format off
#include "ops/vector/math/exponential-inl.h"  // first: the others build on it
#include "ops/vector/math/error_function-inl.h"
#include "ops/vector/math/power-inl.h"
#include "ops/vector/math/trigonometric-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

// --- double and complex: the C++ library ------------------------------------------------------------------------

template <class T>
concept Library =
    std::same_as<T, double> || std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

// clang-format off
template <Library T> HWY_INLINE T exp_of(T x) { return std::exp(x); }
template <Library T> HWY_INLINE T log_of(T x) { return std::log(x); }
template <Library T> HWY_INLINE T log10_of(T x) { return std::log10(x); }
template <Library T> HWY_INLINE T sin_of(T x) { return std::sin(x); }
template <Library T> HWY_INLINE T cos_of(T x) { return std::cos(x); }
template <Library T> HWY_INLINE T tan_of(T x) { return std::tan(x); }
template <Library T> HWY_INLINE T asin_of(T x) { return std::asin(x); }
template <Library T> HWY_INLINE T acos_of(T x) { return std::acos(x); }
template <Library T> HWY_INLINE T atan_of(T x) { return std::atan(x); }
template <Library T> HWY_INLINE T sinh_of(T x) { return std::sinh(x); }
template <Library T> HWY_INLINE T cosh_of(T x) { return std::cosh(x); }
template <Library T> HWY_INLINE T tanh_of(T x) { return std::tanh(x); }
template <Library T> HWY_INLINE T asinh_of(T x) { return std::asinh(x); }
template <Library T> HWY_INLINE T acosh_of(T x) { return std::acosh(x); }
template <Library T> HWY_INLINE T atanh_of(T x) { return std::atanh(x); }
template <Library T> HWY_INLINE T sqrt_of(T x) { return std::sqrt(x); }
HWY_INLINE double expm1_of(double x) { return std::expm1(x); }
HWY_INLINE double exp2_of(double x) { return std::exp2(x); }
HWY_INLINE double log1p_of(double x) { return std::log1p(x); }
HWY_INLINE double log2_of(double x) { return std::log2(x); }
HWY_INLINE double erf_of(double x) { return std::erf(x); }
HWY_INLINE double erfc_of(double x) { return std::erfc(x); }
HWY_INLINE double atan2_of(double y, double x) { return std::atan2(y, x); }
template <class R> HWY_INLINE std::complex<R> log2_of(std::complex<R> x) { return std::log(x) * R(kLog2E); }
template <class R> HWY_INLINE std::complex<R> log1p_of(std::complex<R> x) { return std::log(R(1) + x); }
template <class R> HWY_INLINE std::complex<R> expm1_of(std::complex<R> x) { return std::exp(x) - R(1); }
template <class R> HWY_INLINE std::complex<R> exp2_of(std::complex<R> x) { return std::exp(x * R(kLn2)); }
// clang-format on

HWY_INLINE double sinc_of(double x) { return x == 0.0 ? 1.0 : std::sin(kPi * x) / (kPi * x); }
template <class R>
HWY_INLINE std::complex<R> sinc_of(std::complex<R> x) {
  const std::complex<R> turned = x * R(kPi);
  return x == R(0) ? std::complex<R>(1) : std::sin(turned) / turned;
}

// --- roots, rounding, signs -------------------------------------------------------------------------------------

HWY_INLINE float sqrt_of(float x) { return __builtin_sqrtf(x); }

// To an integer; integers are ones already. Halves go to the even neighbour.
// clang-format off
template <std::floating_point T> HWY_INLINE T round_of(T x) { return std::rint(x); }
template <std::floating_point T> HWY_INLINE T floor_of(T x) { return std::floor(x); }
template <std::floating_point T> HWY_INLINE T ceil_of(T x) { return std::ceil(x); }
template <std::floating_point T> HWY_INLINE T trunc_of(T x) { return std::trunc(x); }
template <std::integral T> HWY_INLINE T round_of(T x) { return x; }
template <std::integral T> HWY_INLINE T floor_of(T x) { return x; }
template <std::integral T> HWY_INLINE T ceil_of(T x) { return x; }
template <std::integral T> HWY_INLINE T trunc_of(T x) { return x; }
// clang-format on

HWY_INLINE int64_t abs_of(int64_t x) { return x < 0 ? wrap_subtract(int64_t{0}, x) : x; }
HWY_INLINE float abs_of(float x) { return __builtin_fabsf(x); }
HWY_INLINE double abs_of(double x) { return __builtin_fabs(x); }
template <class R>
HWY_INLINE R abs_of(std::complex<R> x) {
  return std::abs(x);
}

// -1, 0 or 1; 0 for NaN. Of a complex number its direction.
template <class T>
HWY_INLINE T sign_of(T x) {
  return static_cast<T>(static_cast<T>(x > T(0)) - static_cast<T>(x < T(0)));
}
template <class R>
HWY_INLINE std::complex<R> sign_of(std::complex<R> x) {
  const R length = std::abs(x);
  return length == R(0) ? std::complex<R>(0) : x / length;
}

template <class T>
constexpr bool is_nan(T x) {
  return x != x;
}

// A choice and not a product: 0 times NaN would be NaN.
template <class T>
HWY_INLINE T unless_zero(T decider, T value) {
  return decider == T(0) ? T(0) : value;
}

// torch's minimum and maximum hand a NaN on.
template <class T>
HWY_INLINE T max_of(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return x > y ? x : y;
  else
    return x != x ? x : (y > x || y != y ? y : x);
}
template <class T>
HWY_INLINE T min_of(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return x < y ? x : y;
  else
    return x != x ? x : (y < x || y != y ? y : x);
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
