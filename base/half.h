// SPDX-License-Identifier: Apache-2.0
// IEEE half and bfloat16 as storage types. Arithmetic happens in float; both conversions round to nearest even, keep
// infinities, and keep NaN a (quiet) NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace npu {

struct Half {
  uint16_t bits = 0;
  Half() = default;
  constexpr explicit Half(float value) : bits(from_float(value)) {}
  constexpr operator float() const { return to_float(bits); }  // NOLINT: a half reads as a float

  static constexpr uint16_t from_float(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((f >> 16) & 0x8000u);
    const uint32_t magnitude = f & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
    if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) return static_cast<uint16_t>(sign | subnormal(magnitude));
    const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }

  static constexpr float to_float(uint16_t h) {
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    const uint32_t exponent = (h >> 10) & 0x1fu;
    const uint32_t mantissa = h & 0x3ffu;
    if (exponent == 0x1fu) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
    const float value = static_cast<float>(mantissa) * 5.9604644775390625e-8f;  // 2^-24
    return sign ? -value : value;
  }

 private:
  // Adding 0.5 in float arithmetic lets the hardware do the rounding of the 10 mantissa bits.
  static constexpr uint16_t subnormal(uint32_t magnitude) {
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3f000000u);
  }
};

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  constexpr explicit BFloat16(float value) : bits(from_float(value)) {}
  constexpr operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }  // NOLINT

  static constexpr uint16_t from_float(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    if ((f & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((f >> 16) | 0x40u);
    return static_cast<uint16_t>((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
  }
};

}  // namespace npu
