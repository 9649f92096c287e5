// SPDX-License-Identifier: Apache-2.0
// Exponentials, logarithms and what is made of them. Included by math-inl.h, once per instruction set.
//
// Every polynomial is a minimax fit of our own (Remez exchange at 50 digits, coefficients rounded afterwards); the
// comment gives degree, interval and error of the polynomial. Hot functions work in float; the others go through the
// double cores below, whose relative error of 2^-44 leaves half an ulp of float.
HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

// Adding 1.5 · 2^23 (2^52) rounds to an integer and leaves it in the low bits: cheaper than a conversion, and defined
// for NaN.
constexpr float kRound = 12582912.0f;
constexpr double kRoundWide = 6755399441055744.0;

// x = n · ln 2 + r, |r| <= ln2/2. `n_bits` is n plus the bits of kRound.
struct ExpParts {
  float r;
  uint32_t n_bits;
};

HWY_INLINE ExpParts exp_parts(float x) {
  const float t = x * 0x1.715476p+0f + kRound;
  const float n = t - kRound;
  // ln 2 in two parts; the first has 15 bits, so n times it is exact without a fused multiply-add.
  const float r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
  return {r, std::bit_cast<uint32_t>(t)};
}

// (e^r - 1) / r - 1 over r: degree 4 on |r| <= ln2/2, 2^-28.2 relative to e^r.
HWY_INLINE float exp_tail(float r) {
  float p = 0x1.6ab6eap-10f;
  p = p * r + 0x1.123d5ep-7f;
  p = p * r + 0x1.55585ap-5f;
  p = p * r + 0x1.55548cp-3f;
  return p * r + 0x1.fffffcp-2f;
}

// 2^n for the n in `n_bits`, shifted by `bias` - 127.
HWY_INLINE float power_of_two(uint32_t n_bits, uint32_t bias) { return std::bit_cast<float>((n_bits + bias) << 23); }

// About 1 ulp. Overflows to infinity and underflows through the subnormals to 0: 2^n is applied in two factors.
HWY_INLINE float exp_of(float x) {
  const float low = x < -104.0f ? -104.0f : x;
  const auto [r, n_bits] = exp_parts(low > 89.0f ? 89.0f : low);
  const float p = exp_tail(r) * r * r + r + 1.0f;
  const bool down = x < 0.0f;
  return p * power_of_two(n_bits, down ? 127u + 64u : 126u) * (down ? 0x1p-64f : 2.0f);
}

// The same where the result may lose its subnormals: 0 below -87. Not for arguments above 88.
HWY_INLINE float exp_of_negative(float x) {
  const auto [r, n_bits] = exp_parts(x < -87.0f ? -87.0f : x);
  const float p = exp_tail(r) * r * r + r + 1.0f;
  return x < -87.0f ? 0.0f : p * power_of_two(n_bits, 127);
}

// e^x - 1 = 2^n (e^r - 1) + (2^n - 1), halved because 2^n may be 2^128. About 1 ulp.
HWY_INLINE float expm1_of(float x) {
  const float low = x < -20.0f ? -20.0f : x;
  const auto [r, n_bits] = exp_parts(low > 89.0f ? 89.0f : low);
  const float q = exp_tail(r) * r * r + r;
  const float half = power_of_two(n_bits, 126);
  const float result = (half * q + (half - 0.5f)) * 2.0f;
  return x == 0.0f ? x : result;  // keeps -0
}

// e · ln 2 + log(1 + m), 1 + m in [sqrt(1/2), sqrt(2)).
HWY_INLINE float log_series(float m, float e) {
  // (log(1 + m) - m + m²/2) / m³: degree 8, 2^-28.2 relative to log(1 + m).
  float p = 0x1.145780p-4f;
  p = p * m - 0x1.de3bdep-4f;
  p = p * m + 0x1.e6f052p-4f;
  p = p * m - 0x1.fc220ap-4f;
  p = p * m + 0x1.23376ap-3f;
  p = p * m - 0x1.555c4ep-3f;
  p = p * m + 0x1.99a4b6p-3f;
  p = p * m - 0x1.000006p-2f;
  p = p * m + 0x1.555548p-2f;
  const float z = m * m;
  const float small = p * m * z + e * 0x1.7f7d1cp-20f;
  return (m - (0.5f * z - small)) + e * 0x1.62e4p-1f;
}

// `value` where the logarithm's argument is positive and finite: -inf at 0, NaN below, infinity at infinity.
template <class T>
HWY_INLINE T log_limits(T x, T value) {
  const T inf = std::numeric_limits<T>::infinity();
  const T positive = x == inf ? inf : value;
  const T other = x == T(0) ? -inf : std::numeric_limits<T>::quiet_NaN();
  return x > T(0) ? positive : other;
}

// How many powers of two take a positive normal float to [sqrt(1/2), sqrt(2)).
// In unsigned words: for a negative argument, whose result log_limits replaces, the difference wraps.
HWY_INLINE int32_t log_exponent(float x) {
  return static_cast<int32_t>(std::bit_cast<uint32_t>(x) - 0x3f3504f3u) >> 23;
}

// About 1 ulp.
HWY_INLINE float log_of(float x) {
  const bool tiny = x < 0x1p-126f;
  const float scaled = tiny ? x * 0x1p23f : x;
  const int32_t exponent = log_exponent(scaled);
  const float m =
      std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) - static_cast<uint32_t>(exponent) * 0x800000u) - 1.0f;
  return log_limits(x, log_series(m, static_cast<float>(exponent) - (tiny ? 23.0f : 0.0f)));
}

// About 1.5 ulp. The exponent is that of 1 + x; x itself is then scaled, so nothing of it is lost. From 2^60 on the 1
// is nothing, and scaling by 2^-64 keeps the exponent in range.
HWY_INLINE float log1p_of(float x) {
  const bool big = x > 0x1p60f;
  const float one = big ? 0.0f : 1.0f;
  const float shrunk = big ? x * 0x1p-64f : x;
  const int32_t exponent = log_exponent(shrunk + one);
  const float scale = std::bit_cast<float>((127u - static_cast<uint32_t>(exponent)) * 0x800000u);
  const float m = shrunk * scale + (one * scale - 1.0f);
  const float result = log_limits(x + 1.0f, log_series(m, static_cast<float>(exponent) + (big ? 64.0f : 0.0f)));
  return x == 0.0f ? x : result;
}

// --- double cores -----------------------------------------------------------------------------------------------

// e^x for |x| <= 700: (e^r - 1 - r) / r² of degree 7, 2^-45.8.
HWY_INLINE double exp_core(double x) {
  const double t = x * 0x1.71547652b82fep+0 + kRoundWide;
  const double n = t - kRoundWide;
  const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  double p = 0x1.71012f8652aa9p-19;
  p = p * r + 0x1.a16ede8391ad9p-16;
  p = p * r + 0x1.a01b74e317b56p-13;
  p = p * r + 0x1.6c163b62c04b1p-10;
  p = p * r + 0x1.1111108d6af3ep-7;
  p = p * r + 0x1.5555557e2be96p-5;
  p = p * r + 0x1.555555558a59fp-3;
  p = p * r + 0x1.fffffffff1222p-2;
  return (p * r * r + r + 1.0) * std::bit_cast<double>((std::bit_cast<uint64_t>(t) + 1023u) << 52);
}

// log(x) of a positive normal x: log((1 + s) / (1 - s)) = 2s + s³ · (degree 4 in s²), 2^-44.9.
HWY_INLINE double log_core(double x) {
  // Unsigned arithmetic only: AVX2 has no arithmetic shift of 64 bits and no conversion from int64.
  const uint64_t shifted = std::bit_cast<uint64_t>(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  const double m = std::bit_cast<double>((shifted & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);
  const double e = std::bit_cast<double>((shifted >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
  const double s = (m - 1.0) / (m + 1.0);
  const double u = s * s;
  double p = 0x1.911c91319cd8cp-3;
  p = p * u + 0x1.c62aa091444f6p-3;
  p = p * u + 0x1.2494133583720p-2;
  p = p * u + 0x1.999996a67e0cdp-2;
  p = p * u + 0x1.555555561f31ap-1;
  return (p * u * s + 2.0 * s) + e * 0x1.62e42fefa39efp-1;
}

// log_core over all floats.
HWY_INLINE float finish_log(double x, double value) { return static_cast<float>(log_limits(x, value)); }

HWY_INLINE double clamp_wide(double x, double bound) {
  const double low = x < -bound ? -bound : x;
  return low > bound ? bound : low;
}

constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;

HWY_INLINE float exp2_of(float x) {
  const double wide = clamp_wide(static_cast<double>(x), 200.0);
  return static_cast<float>(exp_core(wide * kLn2));
}
HWY_INLINE float log2_of(float x) {
  const auto wide = static_cast<double>(x);
  return finish_log(wide, log_core(wide) * kLog2E);
}
HWY_INLINE float log10_of(float x) {
  const auto wide = static_cast<double>(x);
  return finish_log(wide, log_core(wide) * 0x1.bcb7b1526e50ep-2);
}

// --- hyperbolic -------------------------------------------------------------------------------------------------

// tanh a = E / (E + 2) with E = e^2a - 1, as in expm1. About 2 ulp.
HWY_INLINE float tanh_of(float x) {
  const float a = __builtin_fabsf(x);
  const auto [r, n_bits] = exp_parts(2.0f * (a > 10.0f ? 10.0f : a));
  const float q = exp_tail(r) * r * r + r;
  const float scale = power_of_two(n_bits, 127);
  const float e = scale * q + (scale - 1.0f);
  return __builtin_copysignf(e / (e + 2.0f), x);
}

// Below 1/4 the difference of exponentials cancels: Taylor's series, next term 2^-34.
HWY_INLINE float sinh_of(float x) {
  const double a = clamp_wide(__builtin_fabs(static_cast<double>(x)), 100.0);
  const double z = a * a;
  const double small = a + a * z * (1.0 / 6 + z * (1.0 / 120 + z * (1.0 / 5040)));
  const double e = exp_core(a);
  const double large = 0.5 * (e - 1.0 / e);
  return __builtin_copysignf(static_cast<float>(a < 0.25 ? small : large), x);
}
HWY_INLINE float cosh_of(float x) {
  const double e = exp_core(clamp_wide(static_cast<double>(x), 100.0));
  return static_cast<float>(0.5 * (e + 1.0 / e));
}
HWY_INLINE float asinh_of(float x) {
  const double a = __builtin_fabs(static_cast<double>(x));
  const double sum = a + __builtin_sqrt(a * a + 1.0);
  const double small = a - a * a * a * (1.0 / 6);
  const float result = a < 0x1p-12 ? static_cast<float>(small) : finish_log(sum, log_core(sum));
  return __builtin_copysignf(result, x);
}
HWY_INLINE float acosh_of(float x) {
  const auto wide = static_cast<double>(x);
  const double sum = wide + __builtin_sqrt(wide * wide - 1.0);
  const float result = finish_log(sum, log_core(sum));
  return x < 1.0f ? std::numeric_limits<float>::quiet_NaN() : result;
}
HWY_INLINE float atanh_of(float x) {
  const double a = __builtin_fabs(static_cast<double>(x));
  const double ratio = (1.0 + a) / (1.0 - a);
  const double small = a + a * a * a * (1.0 / 3);
  const float result = a < 0x1p-12 ? static_cast<float>(small) : 0.5f * finish_log(ratio, log_core(ratio));
  return __builtin_copysignf(result, x);
}

// --- the sigmoid ------------------------------------------------------------------------------------------------

HWY_INLINE float sigmoid_of(float x) { return 1.0f / (1.0f + exp_of(-x)); }
HWY_INLINE double sigmoid_of(double x) { return 1.0 / (1.0 + std::exp(-x)); }
template <class R>
HWY_INLINE std::complex<R> sigmoid_of(std::complex<R> x) {
  return R(1) / (R(1) + std::exp(-x));
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
