// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/element/decode.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "tools/compare/element/small_float.h"

namespace npu::compare {
namespace {

using Convert = void (*)(const std::byte* from, size_t count, float* to);
using ConvertWide = void (*)(const std::byte* from, size_t count, double* to);

/// `Step` is how far one element lies behind the other, for complex ones.
template <class T, size_t Step = sizeof(T), class To = float>
void each(const std::byte* from, size_t count, To* to) {
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * Step, sizeof value);
    to[i] = static_cast<To>(value);
  }
}

void copy(const std::byte* from, size_t count, float* to) { std::memcpy(to, from, count * sizeof(float)); }

void truth(const std::byte* from, size_t count, float* to) {
  for (size_t i = 0; i < count; ++i) to[i] = from[i] == std::byte{0} ? 0.0f : 1.0f;
}

template <float (*Of)(uint8_t)>
void looked_up(const std::byte* from, size_t count, float* to) {
  static const auto table = [] {
    std::array<float, 256> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i] = Of(static_cast<uint8_t>(i));
    return all;
  }();
  for (size_t i = 0; i < count; ++i) to[i] = table[std::to_integer<size_t>(from[i])];
}

Convert convert_of(const DataType& type) {
  switch (type.number) {
    case 1: return copy;
    case 2: return each<Half>;
    case 0:
    case 3:
    case 14:
    case 18: return each<int8_t>;
    case 4:
    case 15:
    case 21: return each<uint8_t>;
    case 5:
    case 19: return each<int16_t>;
    case 6:
    case 22: return each<uint16_t>;
    case 7:
    case 20: return each<int32_t>;
    case 8:
    case 23: return each<int64_t>;
    case 9: return each<uint32_t>;
    case 10: return each<uint64_t>;
    case 11: return truth;
    case 12: return each<double>;
    case 16: return each<float, 8>;
    case 17: return each<double, 16>;
    case 27: return each<BFloat16>;
    case 32: return each<Half, 4>;
    case 33: return looked_up<hifloat8>;
    case 34: return looked_up<float8_e5m2>;
    case 35: return looked_up<float8_e4m3fn>;
    case 36: return looked_up<float8_e8m0>;
    default: return nullptr;
  }
}

/// Of types with more digits than float has.
ConvertWide wide_convert_of(const DataType& type) {
  switch (type.number) {
    case 7:
    case 20: return each<int32_t, 4, double>;
    case 8:
    case 23: return each<int64_t, 8, double>;
    case 9: return each<uint32_t, 4, double>;
    case 10: return each<uint64_t, 8, double>;
    case 12: return each<double, 8, double>;
    default: return nullptr;
  }
}

uint32_t bits_at(Bytes from, uint64_t bit, uint32_t width) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < width; ++i, ++bit)
    value |= (std::to_integer<uint32_t>(from[bit / 8]) >> (bit % 8) & 1u) << i;
  return value;
}

float signed_bits(uint32_t value, uint32_t width) {
  const auto number = static_cast<int32_t>(value);
  return static_cast<float>(value >> (width - 1) ? number - (1 << width) : number);
}

float packed(const DataType& type, Bytes from, uint64_t index) {
  const auto width = static_cast<uint32_t>(type.bits);
  if (width == 1) return std::to_integer<uint32_t>(from[index / 8]) >> (7 - index % 8) & 1u ? 1.0f : 0.0f;
  const uint32_t value = bits_at(from, index * width, width);
  switch (type.number) {
    case 28:
    case 30: return signed_bits(value, width);
    case 37: return small_float(value, 3, 2);
    case 38: return small_float(value, 2, 3);
    case 39: return small_float(value, 2, 1);
    case 40: return small_float(value, 1, 2);
    default: return static_cast<float>(value);
  }
}

bool is_packed(const DataType& type) {
  return (type.number >= 28 && type.number <= 31) || (type.number >= 37 && type.number <= 40);
}

}  // namespace

bool can_decode(const DataType& type) { return convert_of(type) != nullptr || is_packed(type); }

void decode(const DataType& type, Bytes from, uint64_t first, size_t count, float* to) {
  if (count == 0) return;
  if (const Convert convert = convert_of(type))
    return convert(from.data() + first * (static_cast<size_t>(type.bits) / 8), count, to);
  for (size_t i = 0; i < count; ++i) to[i] = packed(type, from, first + i);
}

void decode(const DataType& type, Bytes from, uint64_t first, size_t count, double* to) {
  if (count == 0) return;
  if (const ConvertWide convert = wide_convert_of(type))
    return convert(from.data() + first * (static_cast<size_t>(type.bits) / 8), count, to);
  std::array<float, 256> part{};
  for (size_t done = 0; done < count; done += part.size()) {
    const size_t n = std::min(part.size(), count - done);
    decode(type, from, first + done, n, part.data());
    std::copy_n(part.begin(), n, to + done);
  }
}

}  // namespace npu::compare
