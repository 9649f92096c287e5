// SPDX-License-Identifier: Apache-2.0
// Elements as clients store them. A bool in memory is true for any non-zero byte (torch.empty leaves such bytes, and a
// view as bool shows them), while a C++ bool must be 0 or 1: kernels see bools only after a conversion.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/dtype.h"

namespace npu::ops {

/// The type to read an element of T with.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

/// The value of an element that was read.
template <class T>
constexpr T value_of(const Stored<T>& element) {
  if constexpr (std::is_same_v<T, bool>)
    return element != 0;
  else
    return element;
}

/// Whether memory of `dtype` may be handed to a kernel that reads elements of `slot`.
inline bool reads_as(DType dtype, DType slot) { return dtype == slot && dtype != DType::kBool; }

}  // namespace npu::ops
