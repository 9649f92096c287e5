/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of ACL_BF16 for programs in C++: the upper half of a float. Arithmetic is that of float, rounded once. */
#ifndef ANYNPU_ACLNN_OPDEV_BFLOAT16_H_
#define ANYNPU_ACLNN_OPDEV_BFLOAT16_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace op {

struct bfloat16 {
  uint16_t value = 0;  ///< the bits

  bfloat16() = default;
  /** Rounded to the nearest, ties to even. */
  bfloat16(float number) : value(bits_of(number)) {}  // NOLINT: numbers are given where one is taken
  /** Of another number, by float. */
  template <class Number, class = typename std::enable_if<std::is_arithmetic<Number>::value>::type>
  bfloat16(Number number) : bfloat16(static_cast<float>(number)) {}  // NOLINT
  operator float() const { return number_of(value); }                // NOLINT: exact

  bfloat16& operator+=(bfloat16 other) { return *this = static_cast<float>(*this) + static_cast<float>(other); }
  bfloat16& operator-=(bfloat16 other) { return *this = static_cast<float>(*this) - static_cast<float>(other); }
  bfloat16& operator*=(bfloat16 other) { return *this = static_cast<float>(*this) * static_cast<float>(other); }
  bfloat16& operator/=(bfloat16 other) { return *this = static_cast<float>(*this) / static_cast<float>(other); }

 private:
  static uint16_t bits_of(float number) {
    uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    if (number != number) return static_cast<uint16_t>(bits >> 16 | 0x40);  // stays no number
    return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
  }
  static float number_of(uint16_t half) {
    const uint32_t bits = static_cast<uint32_t>(half) << 16;
    float number = 0;
    std::memcpy(&number, &bits, sizeof(bits));
    return number;
  }
};

}  // namespace op

#endif /* ANYNPU_ACLNN_OPDEV_BFLOAT16_H_ */
