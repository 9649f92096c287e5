// SPDX-License-Identifier: Apache-2.0
// Single elements of a tensor of any dtype, for operators that touch few of them.
#pragma once

#include "base/tensor.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {

/// The element `offset` elements behind the view's first one, as a double.
inline double load_element(const Tensor& t, int64_t offset = 0) {
  double value = 0;
  converter(t.dtype, DType::kDouble)(t.bytes() + offset * static_cast<int64_t>(size_of(t.dtype)), 1, &value, 1, 1);
  return value;
}

/// Writes it, rounded once into the tensor's dtype.
inline void store_element(const Tensor& t, int64_t offset, double value) {
  converter(DType::kDouble, t.dtype)(&value, 1, t.bytes() + offset * static_cast<int64_t>(size_of(t.dtype)), 1, 1);
}

}  // namespace npu::ops
