// SPDX-License-Identifier: Apache-2.0
// Floating types of a byte or less, as their bits stand for numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace npu::compare {

/// A sign, `exponent` bits and `mantissa` bits, with the usual bias and numbers below the normal ones.
constexpr float small_float(uint32_t bits, int exponent, int mantissa) {
  const uint32_t fraction = bits & ((1u << mantissa) - 1);
  const int power = static_cast<int>(bits >> mantissa & ((1u << exponent) - 1));
  const int bias = (1 << (exponent - 1)) - 1;
  double value = power == 0 ? fraction : fraction + (1u << mantissa);
  for (int i = (power == 0 ? 1 : power) - bias - mantissa; i != 0; i += i > 0 ? -1 : 1) value *= i > 0 ? 2.0 : 0.5;
  return static_cast<float>(bits >> (exponent + mantissa) & 1 ? -value : value);
}

/// No infinity; all bits set is no number.
constexpr float float8_e4m3fn(uint8_t bits) {
  return (bits & 0x7f) == 0x7f ? std::numeric_limits<float>::quiet_NaN() : small_float(bits, 4, 3);
}

constexpr float float8_e5m2(uint8_t bits) {
  if ((bits & 0x7c) != 0x7c) return small_float(bits, 5, 2);
  if ((bits & 3) != 0) return std::numeric_limits<float>::quiet_NaN();
  return bits >> 7 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
}

/// A power of two alone.
inline float float8_e8m0(uint8_t bits) {
  return bits == 0xff ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, bits - 127);
}

/// Tapered: a prefix code says how many of the seven bits are the exponent's.
inline float hifloat8(uint8_t bits) {
  if (bits == 0) return 0;
  if (bits == 0x80) return std::numeric_limits<float>::quiet_NaN();
  const float sign = bits >> 7 ? -1.0f : 1.0f;
  const uint32_t low = bits & 0x7f;
  if (low == 0x6f) return sign * std::numeric_limits<float>::infinity();
  if (low < 8) return sign * std::ldexp(1.0f, static_cast<int>(low) - 23);
  if (low < 16) return sign * (1 + static_cast<float>(low & 7) / 8);
  const int exponent = low >= 0x60 ? 4 : low >= 0x40 ? 3 : low >= 0x20 ? 2 : 1;  // bits of it, its sign among them
  const int mantissa = exponent == 1 ? 3 : 5 - exponent;
  const uint32_t field = low >> mantissa & ((1u << exponent) - 1);
  const int size = 1 << (exponent - 1);  // the highest bit of its size is always set and not stored
  const int power = size + static_cast<int>(field & static_cast<uint32_t>(size - 1));
  const float fraction = static_cast<float>(low & ((1u << mantissa) - 1)) / static_cast<float>(1 << mantissa);
  return sign * std::ldexp(1 + fraction, field & static_cast<uint32_t>(size) ? -power : power);
}

}  // namespace npu::compare
