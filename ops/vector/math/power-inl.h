// SPDX-License-Identifier: Apache-2.0
// Powers, remainders and division with rounding, for floats and integers. Included by math-inl.h, once per instruction
// set. Integer division by zero and overflow give defined results instead of a trap: torch raises for the former, which
// a device cannot.
HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

// x^y through double logarithms: 0.5 ulp. Signs and special values follow IEEE 754.
HWY_INLINE float pow_of(float x, float y) {
  const double inf = std::numeric_limits<double>::infinity();
  const double a = __builtin_fabs(static_cast<double>(x));
  const auto wide_y = static_cast<double>(y);
  const double finite = log_core(a);
  const double log_a = a == 0.0 ? -inf : (a == inf ? inf : finite);
  // 1^±inf is 1; without this 0 · inf would make it NaN.
  const double product = a == 1.0 ? 0.0 : wide_y * log_a;
  const double magnitude = exp_core(clamp_wide(product, 200.0));
  const double half_y = wide_y * 0.5;
  const bool whole = __builtin_floor(wide_y) == wide_y;
  const bool odd = whole && __builtin_floor(half_y) != half_y;
  const bool negative = std::bit_cast<int32_t>(x) < 0;
  const double with_sign = negative && odd ? -magnitude : magnitude;
  const bool undefined = x < 0.0f && a != inf && !whole;
  const float result = undefined ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(with_sign);
  const float with_nan = y != y ? y : (x != x ? x : result);
  return x == 1.0f || y == 0.0f ? 1.0f : with_nan;
}
HWY_INLINE double pow_of(double x, double y) { return std::pow(x, y); }
template <class R>
HWY_INLINE std::complex<R> pow_of(std::complex<R> x, std::complex<R> y) {
  return std::pow(x, y);
}
// Wraps on overflow; a negative exponent gives 0 except for bases 1 and -1, as torch.
HWY_INLINE int64_t pow_of(int64_t x, int64_t y) {
  if (y < 0) return x == 1 ? 1 : (x == -1 ? ((y & 1) != 0 ? -1 : 1) : 0);
  uint64_t result = 1;
  for (auto base = static_cast<uint64_t>(x); y != 0; y >>= 1, base *= base) result *= (y & 1) != 0 ? base : 1;
  return static_cast<int64_t>(result);
}

// --- integer division -------------------------------------------------------------------------------------------

// Towards zero. x / 0 is -1, x / -1 negates and wraps: no input traps.
HWY_INLINE int64_t trunc_divide(int64_t x, int64_t y) {
  if (y == 0) return -1;
  return y == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x / y;
}
HWY_INLINE int64_t fmod_of(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }
HWY_INLINE int64_t remainder_of(int64_t x, int64_t y) {
  const int64_t rest = fmod_of(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
HWY_INLINE int64_t floor_divide(int64_t x, int64_t y) {
  const int64_t rest = fmod_of(x, y);
  return trunc_divide(x, y) - static_cast<int64_t>(rest != 0 && (rest < 0) != (y < 0));
}

// --- remainders of floats ---------------------------------------------------------------------------------------

// In double the quotient of floats below 2^27 and its product with y are exact enough to give fmod's exact result.
HWY_INLINE bool is_beyond_quotient(float x, float y) {
  const double q = static_cast<double>(x) / static_cast<double>(y);
  return !(__builtin_fabs(q) < 0x1p27);
}
HWY_INLINE float fmod_of(float x, float y) {
  const auto wide = static_cast<double>(x);
  const double rest = wide - __builtin_trunc(wide / static_cast<double>(y)) * static_cast<double>(y);
  return __builtin_copysignf(
      static_cast<float>(__builtin_fabsf(y) == std::numeric_limits<float>::infinity() ? wide : rest), x);
}
HWY_INLINE double fmod_of(double x, double y) { return std::fmod(x, y); }

// The sign of the divisor, as Python.
template <class T>
HWY_INLINE T python_sign(T rest, T y) {
  return rest != T(0) && (rest < T(0)) != (y < T(0)) ? rest + y : rest;
}
// torch's floor_divide: exact where x / y, rounded, would step over an integer.
template <class T>
HWY_INLINE T floor_from_rest(T x, T y, T rest) {
  const T exact = (x - rest) / y;
  const T lowered = rest != T(0) && (rest < T(0)) != (y < T(0)) ? exact - T(1) : exact;
  const T down = std::floor(lowered);
  const T near = lowered - down > T(0.5) ? down + T(1) : down;
  const T signed_zero = std::copysign(T(0), x / y);
  return y == T(0) ? x / y : (lowered != T(0) ? near : signed_zero);
}

HWY_INLINE float remainder_of(float x, float y) { return python_sign(fmod_of(x, y), y); }
HWY_INLINE double remainder_of(double x, double y) { return python_sign(std::fmod(x, y), y); }
HWY_INLINE float floor_divide(float x, float y) { return floor_from_rest(x, y, fmod_of(x, y)); }
HWY_INLINE double floor_divide(double x, double y) { return floor_from_rest(x, y, std::fmod(x, y)); }
HWY_INLINE float trunc_divide(float x, float y) { return __builtin_truncf(x / y); }
HWY_INLINE double trunc_divide(double x, double y) { return __builtin_trunc(x / y); }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
