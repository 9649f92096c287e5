// SPDX-License-Identifier: Apache-2.0
// The small per-channel tensors of normalisation: weight, bias, statistics, in any floating type, absent where the
// client left them out.
#pragma once

#include <string_view>

#include "base/tensor.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {

/// Refuses (161002) a parameter that is given but does not hold `count` floating-point numbers.
inline void check_parameter(std::string_view name, const Tensor& t, int64_t count) {
  if (!t.defined()) return;
  require(t.count() == count, "{} is {}, there are {} channels: it needs one number for each", name, t, count);
  require(is_floating(t.dtype), "{} is {}: it must be floating point", name, t);
}

/// Element `i` of a parameter of any shape, in row-major order; `absent` where there is none.
inline double parameter(const Tensor& t, int64_t i, double absent) {
  if (!t.defined()) return absent;
  if (t.rank() == 1) return load_element(t, i * t.strides[0]);
  int64_t offset = 0;
  for (size_t d = t.rank(); d-- > 0; i /= t.shape[d]) offset += i % t.shape[d] * t.strides[d];
  return load_element(t, offset);
}

/// Writes it; nothing happens to an absent or empty one.
inline void set_parameter(const Tensor& t, int64_t i, double value) {
  if (!t.defined() || t.count() == 0) return;
  int64_t offset = 0;
  for (size_t d = t.rank(); d-- > 0; i /= t.shape[d]) offset += i % t.shape[d] * t.strides[d];
  store_element(t, offset, value);
}

/// Numbers of rows read or written one by one inside a kernel: parameter() with the common case made cheap.
class RowNumbers {
 public:
  RowNumbers() = default;
  explicit RowNumbers(const Tensor& t) : tensor_(t) {
    if (t.defined() && t.dtype == DType::kFloat && t.contiguous()) floats_ = t.as<float>();
  }
  double get(int64_t i, double absent) const {
    return floats_ != nullptr ? static_cast<double>(floats_[i]) : parameter(tensor_, i, absent);
  }
  void set(int64_t i, double value) const {
    if (floats_ != nullptr)
      floats_[i] = static_cast<float>(value);
    else
      set_parameter(tensor_, i, value);
  }

 private:
  Tensor tensor_;
  float* floats_ = nullptr;
};

/// The dtype a normalisation of `x` is computed in. Raises 161002 for types that are not floating point.
inline DType norm_slot(const Tensor& x) {
  require(is_floating(x.dtype), "self is {}: normalisation takes float32, float16, bfloat16 or float64", x);
  return x.dtype == DType::kDouble ? DType::kDouble : DType::kFloat;
}

}  // namespace npu::ops
