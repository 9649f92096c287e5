// SPDX-License-Identifier: Apache-2.0
// Arithmetic of tensor elements: integers wrap around, as on every device; C++ promises that for unsigned ones only.
#pragma once

#include <cstdint>
#include <type_traits>

namespace npu {

template <class T>
constexpr T wrap_add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

template <class T>
constexpr T wrap_subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  else
    return a - b;
}

template <class T>
constexpr T wrap_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

}  // namespace npu
