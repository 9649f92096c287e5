/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of ACL_FLOAT16 for programs in C++ (IEEE 754 binary16). Arithmetic is that of float, rounded once. */
#ifndef ANYNPU_ACLNN_OPDEV_FP16_T_H_
#define ANYNPU_ACLNN_OPDEV_FP16_T_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace op {

struct fp16_t {
  uint16_t val = 0;  ///< the bits

  fp16_t() = default;
  /** Rounded to the nearest, ties to even. */
  fp16_t(float number) : val(bits_of(number)) {}  // NOLINT: numbers are given where one is taken
  /** Of another number, by float. */
  template <class Number, class = typename std::enable_if<std::is_arithmetic<Number>::value>::type>
  fp16_t(Number number) : fp16_t(static_cast<float>(number)) {}  // NOLINT
  operator float() const { return number_of(val); }              // NOLINT: exact

  fp16_t& operator+=(fp16_t other) { return *this = static_cast<float>(*this) + static_cast<float>(other); }
  fp16_t& operator-=(fp16_t other) { return *this = static_cast<float>(*this) - static_cast<float>(other); }
  fp16_t& operator*=(fp16_t other) { return *this = static_cast<float>(*this) * static_cast<float>(other); }
  fp16_t& operator/=(fp16_t other) { return *this = static_cast<float>(*this) / static_cast<float>(other); }

 private:
  static uint16_t bits_of(float number) {
    uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    const uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF;
    if (size > 0x7F800000) return static_cast<uint16_t>(sign | 0x7E00);   // no number
    if (size >= 0x477FF000) return static_cast<uint16_t>(sign | 0x7C00);  // 65520 and above: infinity
    if (size < 0x33000000) return static_cast<uint16_t>(sign);            // below half of the smallest
    const int exponent = static_cast<int>(size >> 23) - 127;
    // The bits that are cut off; below 2^-14 the smallest step stays 2^-24.
    const int shift = exponent < -14 ? -1 - exponent : 13;
    const uint32_t mantissa = (size & 0x7FFFFF) | 0x800000;
    const uint32_t kept = mantissa >> shift, rest = mantissa & ((1U << shift) - 1), half = 1U << (shift - 1);
    const uint32_t base = exponent < -14 ? 0 : static_cast<uint32_t>(exponent + 14) << 10;
    return static_cast<uint16_t>(sign | (base + kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0)));
  }
  static float number_of(uint16_t half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, exponent = half >> 10 & 0x1F,
                   mantissa = half & 0x3FF;
    float number = 0;
    if (exponent == 0) {
      number = static_cast<float>(mantissa) * 5.9604644775390625e-8F;  // 2^-24
      return sign == 0 ? number : -number;
    }
    const uint32_t bits = sign | (exponent == 0x1F ? 0x7F800000 : (exponent + 112) << 23) | mantissa << 13;
    std::memcpy(&number, &bits, sizeof(bits));
    return number;
  }
};

}  // namespace op

#endif /* ANYNPU_ACLNN_OPDEV_FP16_T_H_ */
