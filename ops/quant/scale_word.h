// SPDX-License-Identifier: Apache-2.0
// Scale and offset in one 64-bit word, as the matrix unit reads them: the float32's upper 19 bits in bits 13 to 31, the
// offset as 9 bits in 37 to 45, and bit 46 set.
#pragma once

#include <bit>
#include <cstdint>

namespace npu::ops {

constexpr uint32_t kScaleBits = 0xFFFFE000u;
constexpr uint64_t kWordFlag = uint64_t{1} << 46;

inline float scale_of(uint64_t word) { return std::bit_cast<float>(static_cast<uint32_t>(word) & kScaleBits); }

/// A whole number of [-256, 255].
inline int offset_of(uint64_t word) {
  const auto bits = static_cast<int>(word >> 37 & 0x1FF);
  return bits >= 256 ? bits - 512 : bits;
}

}  // namespace npu::ops
