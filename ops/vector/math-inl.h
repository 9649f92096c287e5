// SPDX-License-Identifier: Apache-2.0
// Mathematical functions of one element, written without branches so that loops over them become vector code.
// Float versions are our own; double, integer and complex ones call the C++ library. No include guard: foreach_target
// re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

// --- exponentials -----------------------------------------------------------------------------------------------

// exp(x) = 2^n · e^r with |r| <= ln2/2; degree-6 polynomial, about 1 ulp. Overflows to inf and underflows through the
// subnormals to 0 because the scale 2^n is applied in two factors.
HWY_INLINE float exp_of(float x) {
  const float clamped = x > 89.0f ? 89.0f : (x < -104.0f ? -104.0f : x);
  const float n = __builtin_rintf(clamped * 1.44269504088896341f);
  float r = clamped - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const auto whole = static_cast<int32_t>(n);
  const int32_t half = whole >> 1;
  const float a = std::bit_cast<float>((half + 127) << 23);
  const float b = std::bit_cast<float>((whole - half + 127) << 23);
  const float result = p * a * b;
  return x != x ? x : result;
}
HWY_INLINE double exp_of(double x) { return std::exp(x); }
template <class R>
HWY_INLINE std::complex<R> exp_of(std::complex<R> x) {
  return std::exp(x);
}

// Natural logarithm; x = m · 2^e with m in [sqrt(1/2), sqrt(2)).
HWY_INLINE float log_of(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 8388608.0f : x;
  const int32_t bits = std::bit_cast<int32_t>(scaled);
  int32_t exponent = ((bits - 0x3f3504f3) >> 23);
  const float m = std::bit_cast<float>(bits - (exponent << 23)) - 1.0f;
  const float e = static_cast<float>(tiny ? exponent - 23 : exponent);
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const float z = m * m;
  float y = p * m * z;
  y = y + e * -2.12194440e-4f;
  y = y - 0.5f * z;
  float result = m + y;
  result = result + e * 0.693359375f;
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  result = x == inf ? inf : result;
  result = x == 0.0f ? -inf : result;
  return x < 0.0f || x != x ? nan : result;
}
HWY_INLINE double log_of(double x) { return std::log(x); }
template <class R>
HWY_INLINE std::complex<R> log_of(std::complex<R> x) {
  return std::log(x);
}

// e^x - 1 without cancellation near 0: a polynomial where |x| is small.
HWY_INLINE float expm1_of(float x) {
  float p = 1.9841269841e-4f;
  p = p * x + 1.3888888889e-3f;
  p = p * x + 8.3333333333e-3f;
  p = p * x + 4.1666666667e-2f;
  p = p * x + 1.6666666667e-1f;
  p = p * x + 0.5f;
  const float small = x + x * x * p;
  const float large = exp_of(x) - 1.0f;
  return __builtin_fabsf(x) < 0.35f ? small : large;
}
HWY_INLINE double expm1_of(double x) { return std::expm1(x); }

// --- the sigmoid family -----------------------------------------------------------------------------------------

HWY_INLINE float sigmoid_of(float x) { return 1.0f / (1.0f + exp_of(-x)); }
HWY_INLINE double sigmoid_of(double x) { return 1.0 / (1.0 + std::exp(-x)); }
template <class R>
HWY_INLINE std::complex<R> sigmoid_of(std::complex<R> x) {
  return R(1) / (R(1) + std::exp(-x));
}

// tanh through e^2x, by a polynomial where that would cancel.
HWY_INLINE float tanh_of(float x) {
  const float a = __builtin_fabsf(x);
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float small = x + x * z * p;
  const float large = 1.0f - 2.0f / (exp_of(2.0f * (a > 20.0f ? 20.0f : a)) + 1.0f);
  const float result = a < 0.625f ? small : __builtin_copysignf(large, x);
  return x != x ? x : result;
}
HWY_INLINE double tanh_of(double x) { return std::tanh(x); }
template <class R>
HWY_INLINE std::complex<R> tanh_of(std::complex<R> x) {
  return std::tanh(x);
}

// Error function: odd polynomial up to 0.84…, then 1 - e^(-x^2) · rational tail (Abramowitz-Stegun shape, refitted
// terms of the Sun libm expansion are not needed at float precision).
HWY_INLINE float erf_of(float x) {
  const float a = __builtin_fabsf(x);
  const float z = x * x;
  // |x| < 0.921875
  float s = -5.96761703e-4f;
  s = s * z + 4.99119423e-3f;
  s = s * z - 2.67681349e-2f;
  s = s * z + 1.12819925e-1f;
  s = s * z - 3.76125336e-1f;
  s = s * z + 1.28379166e-1f;
  const float small = x + x * s;
  // |x| >= 0.921875: 1 - 2^(…), minimax exponent
  float t = -1.72853470e-5f;
  t = t * a + 3.83197126e-4f;
  const float u = -3.88396438e-3f * a + 2.42546219e-2f;
  t = t * z + u;
  t = t * a - 1.06777877e-1f;
  t = t * a - 6.34846687e-1f;
  t = t * a - 1.28717512e-1f;
  t = t * a - a;
  const float large = __builtin_copysignf(1.0f - exp_of(t), x);
  const float result = a < 0.921875f ? small : large;
  return x != x ? x : result;
}
HWY_INLINE double erf_of(double x) { return std::erf(x); }

// --- roots, rounding, signs -------------------------------------------------------------------------------------

HWY_INLINE float sqrt_of(float x) { return __builtin_sqrtf(x); }
HWY_INLINE double sqrt_of(double x) { return __builtin_sqrt(x); }
template <class R>
HWY_INLINE std::complex<R> sqrt_of(std::complex<R> x) {
  return std::sqrt(x);
}

HWY_INLINE int64_t abs_of(int64_t x) { return x < 0 ? -x : x; }
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
