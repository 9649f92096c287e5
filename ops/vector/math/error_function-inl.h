// SPDX-License-Identifier: Apache-2.0
// The error function, its complement and inverse, and the normal distribution. Included by math-inl.h, once per
// instruction set. Polynomials: own minimax fits, see exponential-inl.h.
HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

// About 1 ulp.
HWY_INLINE float erf_of(float x) {
  const float a = __builtin_fabsf(x);
  const float z = x * x;
  // |x| < 0.95: erf(x) / x - 1, degree 6 in x², 2^-27.
  float s = 0x1.574edap-14f;
  s = s * z - 0x1.a88d90p-11f;
  s = s * z + 0x1.549664p-8f;
  s = s * z - 0x1.b80962p-6f;
  s = s * z + 0x1.ce2dcap-4f;
  s = s * z - 0x1.812742p-2f;
  s = s * z + 0x1.06eba8p-3f;
  // above: log(1 - erf), degree 7 on [0.93, 3.96], 2^-34 relative to erf; from 3.96 on erf rounds to 1.
  const float b = a > 4.0f ? 4.0f : a;
  float t = -0x1.63f63ap-16f;
  t = t * b + 0x1.c90c4cp-12f;
  t = t * b - 0x1.11cddap-8f;
  t = t * b + 0x1.9bda60p-6f;
  t = t * b - 0x1.bba148p-4f;
  t = t * b - 0x1.4442b4p-1f;
  t = t * b - 0x1.2128b8p+0f;
  t = t * b + 0x1.73dc78p-13f;
  const float e = exp_of_negative(t);
  const float small = x + x * s;
  const float large = __builtin_copysignf(1.0f - e, x);
  return a < 0.94f ? small : large;
}

// e^(x²) erfc(x) over t = (x - 3) / (x + 3): degree 10 on x in [0, 10.2], 2^-29.4.
HWY_INLINE float erfc_of(float x) {
  const double wide = static_cast<double>(x);
  const double magnitude = __builtin_fabs(wide);
  const double a = magnitude > 10.2 ? 10.2 : magnitude;  // beyond, the result rounds to 0
  const double t = (a - 3.0) / (a + 3.0);
  double p = 0x1.d50e5f843ce3ap-15;
  p = p * t + 0x1.e487560208611p-16;
  p = p * t - 0x1.37b9c53aea718p-11;
  p = p * t + 0x1.773fd23bdab95p-11;
  p = p * t + 0x1.17c3db48ce091p-8;
  p = p * t - 0x1.8facd2da6bd05p-6;
  p = p * t + 0x1.258b1aef94203p-4;
  p = p * t - 0x1.336fe72b0bd52p-3;
  p = p * t + 0x1.f6ff1fb267f5bp-3;
  p = p * t - 0x1.4e102bde02aacp-2;
  p = p * t + 0x1.6e9827d507bbap-3;
  const double tail = exp_core(-a * a) * p;
  return static_cast<float>(wide < 0.0 ? 2.0 - tail : tail);
}

// Φ(-a), the standard normal distribution's tail, as e^(h(a) - a²/2): h of degree 9 on [0, 5], 2^-24.6 absolute where
// the tail is above 1/256. Beyond 5 the tail (3e-7) only keeps its order of magnitude.
HWY_INLINE float normal_tail(float a) {
  const float b = a > 5.0f ? 5.0f : a;
  float h = 0x1.77140cp-23f;
  h = h * b - 0x1.06fe5ap-18f;
  h = h * b + 0x1.2a4d46p-15f;
  h = h * b - 0x1.308e64p-13f;
  h = h * b - 0x1.56d13ap-14f;
  h = h * b + 0x1.40e7f4p-8f;
  h = h * b - 0x1.2a258ep-5f;
  h = h * b + 0x1.7421acp-3f;
  h = h * b - 0x1.988480p-1f;
  h = h * b - 0x1.62e430p-1f;
  return exp_of_negative(h - 0.5f * a * a);
}

// Φ(x).
HWY_INLINE float normal_of(float x) {
  const float tail = normal_tail(__builtin_fabsf(x));
  return x > 0.0f ? 1.0f - tail : tail;
}
HWY_INLINE double normal_of(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }

// The density of the normal distribution.
HWY_INLINE float normal_density(float x) { return exp_of_negative(-0.5f * x * x) * 0x1.988454p-2f; }
HWY_INLINE double normal_density(double x) { return std::exp(-0.5 * x * x) * 0x1.9884533d43651p-2; }

// Φ(x) + x φ(x), the slope of x Φ(x), from one exponential: Φ(-a) is e^(-a²/2) times a polynomial of degree 9 in
// (a - 3) / (a + 3), 2^-27.1 on [0, 13.3]; beyond, the exponential is 0.
HWY_INLINE float normal_slope(float x) {
  const float a = __builtin_fabsf(x);
  const float t = (a - 3.0f) / (a + 3.0f);
  float q = 0x1.c6400ep-15f;
  q = q * t + 0x1.e6b22ep-14f;
  q = q * t - 0x1.646c40p-12f;
  q = q * t - 0x1.01ff64p-10f;
  q = q * t + 0x1.7cb9a6p-9f;
  q = q * t + 0x1.91e0f6p-8f;
  q = q * t - 0x1.7a9458p-5f;
  q = q * t + 0x1.f8baccp-4f;
  q = q * t - 0x1.a6b66ap-3f;
  q = q * t + 0x1.f1b89cp-4f;
  const float e = exp_of_negative(-0.5f * x * x);
  const float tail = e * q;
  return (x > 0.0f ? 1.0f - tail : tail) + x * (e * 0x1.988454p-2f);
}
HWY_INLINE double normal_slope(double x) { return normal_of(x) + x * normal_density(x); }

// Over w = -log(1 - x²), erfinv(x) / x is a polynomial of degree 10 in w on [0, 6] (2^-27.5) and of degree 7 in sqrt(w)
// on [6, 17.6] (2^-24.6); the last float below 1 has w = 15.9.
HWY_INLINE float erfinv_of(float x) {
  const auto wide = static_cast<double>(x);
  // 1 - x² without the cancellation near 1.
  const double left = (1.0 - wide) * (1.0 + wide);
  const double w = -log_core(left);
  double p = 0x1.57e10e30d198cp-31;
  p = p * w - 0x1.a06c0131d86a2p-26;
  p = p * w + 0x1.9b02ada96dc92p-22;
  p = p * w - 0x1.86ca844600bc7p-19;
  p = p * w + 0x1.e5eb594f58cf4p-18;
  p = p * w + 0x1.3b1c55d2df2f8p-15;
  p = p * w - 0x1.f06431e59cf8cp-14;
  p = p * w - 0x1.32db0e1a17178p-9;
  p = p * w + 0x1.7a82dcdafa1f1p-7;
  p = p * w + 0x1.db29dc1801e5ep-3;
  p = p * w + 0x1.c5bf8942a70a0p-1;
  const double s = __builtin_sqrt(w > 0.0 ? w : 0.0);
  double q = -0x1.e3d3c73df1ca0p-13;
  q = q * s + 0x1.94d6f29cc01ddp-8;
  q = q * s - 0x1.22fff061cfad8p-4;
  q = q * s + 0x1.d2623f63aa63fp-2;
  q = q * s - 0x1.c2c2d447a8919p+0;
  q = q * s + 0x1.076c0e7b4860dp+2;
  q = q * s - 0x1.19788c9516837p+2;
  q = q * s + 0x1.72ed78924100dp+1;
  const float inside = static_cast<float>(wide * (w < 6.0 ? p : q));
  const float end = std::numeric_limits<float>::infinity() * x;
  const float outside = left == 0.0 ? end : std::numeric_limits<float>::quiet_NaN();
  return left > 0.0 ? inside : outside;
}

// Newton's steps on log erfc, which is almost straight in y², or on erf where the logarithm would be flat.
HWY_INLINE double erfinv_of(double x) {
  const double a = std::fabs(x);
  if (!(a < 1.0)) return a == 1.0 ? std::copysign(std::numeric_limits<double>::infinity(), x) : std::nan("");
  const double density = 2.0 / std::sqrt(3.14159265358979323846);
  double y = a < 0.999 ? static_cast<double>(erfinv_of(static_cast<float>(a))) : std::sqrt(-std::log((1 - a) * 2.0));
  for (int step = 0; step < 6; ++step) {
    const double slope = density * std::exp(-y * y);
    y -= a < 0.5 ? (std::erf(y) - a) / slope : -std::log(std::erfc(y) / (1.0 - a)) * std::erfc(y) / slope;
  }
  return std::copysign(y, x);
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
