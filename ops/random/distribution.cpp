// SPDX-License-Identifier: Apache-2.0
#include "ops/random/distribution.h"

#include <cmath>
#include <numbers>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/random/distribution.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

void uniform_f32(const uint32_t* words, int64_t count, int bits, double from, double to, float* out) {
  // The low bits, scaled by a power of two: the product is exact, and 1 is never reached before width and low.
  const auto mask = static_cast<int32_t>((1u << bits) - 1u);
  const float scale = std::ldexp(1.0f, -bits);
  const auto low = static_cast<float>(from);
  const auto width = static_cast<float>(to - from);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(static_cast<int32_t>(words[i]) & mask) * scale * width + low;
  }
}

// (sin, cos) of 2πu for u in [0, 1), by quarter turns and polynomials on [-π/4, π/4].
// By quarter turns of u and not of the angle: u · 4 is exact, so no digits are lost before the polynomial.
HWY_INLINE void sincos_turn(float u, float* sin, float* cos) {
  const float q = __builtin_rintf(u * 4.0f);
  const float t = (u - q * 0.25f) * 6.283185307179586f;
  const auto quarter = static_cast<int32_t>(q);
  const float z = t * t;
  float s = -1.9515295891e-4f;
  s = s * z + 8.3321608736e-3f;
  s = s * z - 1.6666654611e-1f;
  s = s * z * t + t;
  float c = 2.443315711809948e-5f;
  c = c * z - 1.388731625493765e-3f;
  c = c * z + 4.166664568298827e-2f;
  c = c * z * z - 0.5f * z + 1.0f;
  const bool swap = (quarter & 1) != 0;
  const float a = swap ? c : s;
  const float b = swap ? s : c;
  *sin = (quarter & 2) != 0 ? -a : a;
  *cos = ((quarter + 1) & 2) != 0 ? -b : b;
}

void normal_f32(const uint32_t* words, int64_t count, float* out) {
  for (int64_t i = 0; i < count; i += 2) {
    // 31 bits in (0, 1], so that the logarithm is finite; 24 bits in [0, 1).
    const float u = static_cast<float>(static_cast<int32_t>(words[i] >> 1)) * 4.656612873e-10f + 2.328306437e-10f;
    const float turn = static_cast<float>(static_cast<int32_t>(words[i + 1] >> 8)) * 5.9604644775e-8f;
    const float radius = sqrt_of(-2.0f * log_of(u));
    float sin, cos;
    sincos_turn(turn, &sin, &cos);
    out[i] = radius * cos;
    out[i + 1] = radius * sin;
  }
}

void integers(const uint32_t* words, int64_t count, int64_t from, uint64_t range, bool wide, int64_t* out) {
  const auto base = static_cast<uint64_t>(from);
  if (!wide) {
    // The modulo's bias is below 2^-4 of a share for a range of 2^28; wider ranges take 64 bits.
    const auto narrow = static_cast<uint32_t>(range);
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int64_t>(base + words[i] % narrow);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    // The first word is the upper half.
    const uint64_t word = uint64_t{words[2 * i]} << 32 | words[2 * i + 1];
    out[i] = static_cast<int64_t>(base + (range == 0 ? word : word % range));
  }
}

void bits_of(const uint32_t* words, int64_t count, uint32_t limit, uint8_t* bits) {
  for (int64_t i = 0; i < count; i += 8) {
    uint32_t byte = 0;
    // One comparison an element, eight to a byte: a mask is written once, and never read to be changed.
    for (int k = 0; k < 8; ++k) byte |= static_cast<uint32_t>((words[i + k] & 0xFFFFFFU) < limit) << k;
    bits[i / 8] = static_cast<uint8_t>(byte);
  }
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
namespace {

HWY_EXPORT(uniform_f32);
HWY_EXPORT(normal_f32);
HWY_EXPORT(integers);
HWY_EXPORT(bits_of);

double unit_double(const uint32_t* words) {
  const uint64_t word = uint64_t{words[0]} << 32 | words[1];
  // 53 bits: all that a double in [0, 1) holds.
  return static_cast<double>(word >> 11) * 0x1p-53;
}

}  // namespace

void uniform_floats(const uint32_t* words, int64_t count, int bits, double from, double to, float* out) {
  HWY_DYNAMIC_DISPATCH(uniform_f32)(words, count, bits, from, to, out);
}

void uniform_doubles(const uint32_t* words, int64_t count, double from, double to, double* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = unit_double(words + 2 * i) * (to - from) + from;
}

void normal_floats(const uint32_t* words, int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(normal_f32)(words, count, out);
}

void normal_doubles(const uint32_t* words, int64_t count, double* out) {
  for (int64_t i = 0; i < count; i += 2) {
    // 1 - u lies in (0, 1]: the logarithm is finite.
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit_double(words + 2 * i)));
    const double angle = 2.0 * std::numbers::pi * unit_double(words + 2 * i + 2);
    out[i] = radius * std::cos(angle);
    out[i + 1] = radius * std::sin(angle);
  }
}

void uniform_integers(const uint32_t* words, int64_t count, int64_t from, uint64_t range, bool wide, int64_t* out) {
  HWY_DYNAMIC_DISPATCH(integers)(words, count, from, range, wide, out);
}

void keep_bits(const uint32_t* words, int64_t count, uint32_t limit, uint8_t* bits) {
  HWY_DYNAMIC_DISPATCH(bits_of)(words, count, limit, bits);
}

}  // namespace npu::ops
#endif
