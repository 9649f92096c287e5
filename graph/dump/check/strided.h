// SPDX-License-Identifier: Apache-2.0
// Elements of any strides, without the operators that are being checked.
#pragma once

#include <cstring>
#include <vector>

#include "base/tensor.h"

namespace npu::graph {

/// Calls visit(element, index) for each element in row-major order.
template <class Visit>
void each_element(const Tensor& tensor, Visit&& visit) {
  const int64_t count = tensor.count();
  const auto size = static_cast<int64_t>(size_of(tensor.dtype));
  std::vector<int64_t> at(tensor.rank());
  std::byte* element = count > 0 ? tensor.bytes() : nullptr;
  for (int64_t index = 0; index < count; ++index) {
    visit(element, index);
    for (size_t d = tensor.rank(); d-- > 0;) {
      element += tensor.strides[d] * size;
      if (++at[d] < tensor.shape[d]) break;
      element -= tensor.strides[d] * size * tensor.shape[d];
      at[d] = 0;
    }
  }
}

/// Row-major elements of `tensor` to `to`, which has room for them, and back.
inline void gather(const Tensor& tensor, std::byte* to) {
  const size_t size = size_of(tensor.dtype);
  if (tensor.contiguous() && tensor.count() > 0) {
    std::memcpy(to, tensor.bytes(), static_cast<size_t>(bytes_of(tensor)));
    return;
  }
  each_element(tensor,
               [&](const std::byte* from, int64_t i) { std::memcpy(to + static_cast<size_t>(i) * size, from, size); });
}
inline void scatter(const std::byte* from, const Tensor& tensor) {
  const size_t size = size_of(tensor.dtype);
  each_element(tensor, [&](std::byte* to, int64_t i) { std::memcpy(to, from + static_cast<size_t>(i) * size, size); });
}

}  // namespace npu::graph
