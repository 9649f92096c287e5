// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"

namespace npu {

Scalar::Scalar(const void* data, DType dtype) : dtype_(dtype) {
  const bool known = visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    // A client's bool may be any non-zero byte.
    std::conditional_t<std::is_same_v<T, bool>, uint8_t, T> value;
    std::memcpy(&value, data, sizeof(T));
    if constexpr (std::is_same_v<T, bool>) {
      integer_ = value != 0;
    } else if constexpr (std::is_integral_v<T>) {
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

double Scalar::to_double() const {
  if (!is_integral()) return real_;
  return dtype_ == DType::kUInt64 ? static_cast<double>(static_cast<uint64_t>(integer_))
                                  : static_cast<double>(integer_);
}

int64_t Scalar::to_int() const {
  if (is_integral()) return integer_;
  if (std::isnan(real_)) return 0;
  constexpr double kLimit = 9223372036854775808.0;  // 2^63: the cast is undefined from here on
  if (real_ >= kLimit) return std::numeric_limits<int64_t>::max();
  return real_ < -kLimit ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(real_);
}

}  // namespace npu
