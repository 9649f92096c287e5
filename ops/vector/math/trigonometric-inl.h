// SPDX-License-Identifier: Apache-2.0
// Circular functions and their inverses, computed in double. Included by math-inl.h, once per instruction set.
HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr double kPi = 0x1.921fb54442d18p+1;

// Beyond this the two-part reduction below loses bits; callers take the C library's slow way there.
constexpr float kReducible = 4.0e6f;
HWY_INLINE bool is_beyond_reduction(float x) { return !(__builtin_fabsf(x) < kReducible); }

// Sine and cosine of the remainder of x modulo pi/2, and how many quarter turns were taken off.
struct Turn {
  double sine;
  double cosine;
  uint64_t quarter;
};

HWY_INLINE Turn turn_of(double x) {
  const double t = x * 0x1.45f306dc9c883p-1 + kRoundWide;
  const double n = t - kRoundWide;
  // pi/2 in two parts; the first has 30 bits, so n times it is exact.
  const double r = (x - n * 0x1.921fb54p+0) - n * 0x1.10b4611a62633p-30;
  const double z = r * r;
  // (sin r - r) / r³: degree 3 in r² on |r| <= pi/4, 2^-37.6 relative to r. (cos r - 1 + r²/2) / r⁴: degree 3, 2^-42.9.
  double s = 0x1.6cd8368b70e05p-19;
  s = s * z - 0x1.a00f9d198996bp-13;
  s = s * z + 0x1.111108959e3d1p-7;
  s = s * z - 0x1.5555554cb8ffep-3;
  double c = -0x1.241e6841c9cdap-22;
  c = c * z + 0x1.a010ddd6979a2p-16;
  c = c * z - 0x1.6c16b8289faa4p-10;
  c = c * z + 0x1.5555554ed8359p-5;
  return {(s * z + 1.0) * r, (c * z - 0.5) * z + 1.0, std::bit_cast<uint64_t>(t)};
}

HWY_INLINE double negate_if(double x, uint64_t bit) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) ^ (bit << 63));
}

/// Valid for |x| < kReducible, else see sin_exact.
HWY_INLINE float sin_of(float x) {
  const Turn turn = turn_of(static_cast<double>(x));
  const double value = (turn.quarter & 1u) != 0 ? turn.cosine : turn.sine;
  return static_cast<float>(negate_if(value, (turn.quarter >> 1) & 1u));
}
HWY_INLINE float cos_of(float x) {
  const Turn turn = turn_of(static_cast<double>(x));
  const double value = (turn.quarter & 1u) != 0 ? turn.sine : turn.cosine;
  return static_cast<float>(negate_if(value, ((turn.quarter + 1) >> 1) & 1u));
}
HWY_INLINE float tan_of(float x) {
  const Turn turn = turn_of(static_cast<double>(x));
  const bool odd = (turn.quarter & 1u) != 0;
  const double above = odd ? -turn.cosine : turn.sine;
  return static_cast<float>(above / (odd ? turn.sine : turn.cosine));
}

// sin(pi x) / (pi x); the argument is reduced before pi comes in, so large x stay exact.
HWY_INLINE float sinc_of(float x) {
  const auto wide = static_cast<double>(x);
  // Whole turns go before pi comes in.
  const double half = __builtin_rint(wide * 0.5) * 2.0;
  const double r = wide - half;
  const Turn turn = turn_of(r * kPi);
  const double value = (turn.quarter & 1u) != 0 ? turn.cosine : turn.sine;
  const double sine = negate_if(value, (turn.quarter >> 1) & 1u);
  return x == 0.0f ? 1.0f : static_cast<float>(sine / (wide * kPi));
}

// Angle of the point (x, y) with both coordinates >= 0 and not both 0 or infinite. The ratio is brought below
// tan(pi/8).
HWY_INLINE double first_quadrant(double y, double x) {
  const double k = 0x1.a827999fcef32p-2;
  const bool low = y <= k * x;
  const bool high = x <= k * y;
  const double above = low ? y : (high ? -x : y - x);
  const double below = low ? x : (high ? y : y + x);
  const double base = low ? 0.0 : (high ? kPi / 2 : kPi / 4);
  const double t = above / below;
  const double u = t * t;
  // (atan t - t) / t³: degree 6 in t², 2^-40.2 relative to t.
  double p = -0x1.36ee4ca0177a4p-5;
  p = p * u + 0x1.1e6fb88dcd9b0p-4;
  p = p * u - 0x1.7087428aae8e9p-4;
  p = p * u + 0x1.c6d2715e16a0ap-4;
  p = p * u - 0x1.2490c6e9263f4p-3;
  p = p * u + 0x1.99999216be9c3p-3;
  p = p * u - 0x1.5555554efda6cp-2;
  return base + (p * u * t + t);
}

HWY_INLINE float atan_of(float x) {
  const double a = __builtin_fabs(static_cast<double>(x));
  const double angle = first_quadrant(a, 1.0);
  return __builtin_copysignf(static_cast<float>(angle), x);
}
HWY_INLINE float asin_of(float x) {
  const double a = __builtin_fabs(static_cast<double>(x));
  // As the angle of a point on the circle: (1 - a)(1 + a) keeps the digits near 1 that 1 - a² loses, and is negative,
  // so that the root is NaN, outside [-1, 1].
  const double angle = first_quadrant(a, __builtin_sqrt((1.0 - a) * (1.0 + a)));
  return __builtin_copysignf(static_cast<float>(angle), x);
}
HWY_INLINE float acos_of(float x) {
  const double a = __builtin_fabs(static_cast<double>(x));
  const double angle = first_quadrant(__builtin_sqrt((1.0 - a) * (1.0 + a)), a);
  return static_cast<float>(x < 0.0f ? kPi - angle : angle);
}
HWY_INLINE float atan2_of(float y, float x) {
  const double inf = std::numeric_limits<double>::infinity();
  const double ax = __builtin_fabs(static_cast<double>(x));
  const double ay = __builtin_fabs(static_cast<double>(y));
  // 0/0 reads as 0/1 and inf/inf as 1/1: the angles IEEE 754 asks for.
  const bool origin = ax == 0.0 && ay == 0.0;
  const bool corner = ax == inf && ay == inf;
  const double angle = first_quadrant(corner ? 1.0 : ay, corner || origin ? 1.0 : ax);
  // The sign bit, not a comparison: -0 is on the left.
  const bool left = std::bit_cast<int32_t>(x) < 0;
  const float result = static_cast<float>(left ? kPi - angle : angle);
  return x != x ? x : __builtin_copysignf(result, y);
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
