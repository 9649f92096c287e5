// SPDX-License-Identifier: Apache-2.0
// What a statistics dump says of a tensor, gathered in one pass over its elements.
#pragma once

#include <cstdint>
#include <optional>

#include "base/tensor.h"

namespace npu::graph {

/// Of the finite elements; NaN where there are none. Complex numbers count by their magnitude, truth values as 0 and 1.
struct Statistics {
  double most = 0, least = 0, mean = 0;
  double l2norm = 0;
  int64_t nans = 0, negative_infinities = 0, positive_infinities = 0;

  int64_t infinities() const { return negative_infinities + positive_infinities; }
};

/// False for types that are no numbers, and numbers of less than a byte.
bool has_statistics(DType dtype);
/// Of any strides. Sums of 1,024 elements are of their own type (halves: float32), those of float64, in a fixed order.
Statistics statistics_of(const Tensor& tensor);
/// Those of a tensor with an element that is infinite or no number; nothing of all others, which costs a look.
std::optional<Statistics> statistics_if_not_finite(const Tensor& tensor);

}  // namespace npu::graph
