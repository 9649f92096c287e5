// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"

#include <cstring>

#include "base/error.h"

namespace npu {

Scalar::Scalar(const void* data, DType dtype) : dtype_(dtype) {
  const bool known = visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T value;
    std::memcpy(&value, data, sizeof(T));
    if constexpr (std::is_integral_v<T>) {
      integer_ = static_cast<int64_t>(value);
    } else if constexpr (std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>) {
      real_ = value.real();
      imag_ = value.imag();
    } else {
      real_ = static_cast<double>(static_cast<float>(value));
      if constexpr (std::is_same_v<T, double>) real_ = value;
    }
  });
  require(known, "a scalar cannot have dtype {} ({})", name_of(dtype), static_cast<int>(dtype));
}

}  // namespace npu
