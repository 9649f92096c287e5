// SPDX-License-Identifier: Apache-2.0
// What a statistics dump says of a tensor, gathered in one pass over its elements.
#pragma once

#include <cstdint>

#include "base/tensor.h"

namespace npu::graph {

/// Of the finite elements; NaN where there are none. Complex numbers count by their magnitude, truth values as 0 and 1.
struct Statistics {
  double most = 0, least = 0, mean = 0;
  double l2norm = 0;
  int64_t nans = 0, negative_infinities = 0, positive_infinities = 0;
};

/// False for types that are no numbers, and numbers of less than a byte.
bool has_statistics(DType dtype);
/// Of any strides. Sums of 1,024 elements are of their own type (halves: float32), those of float64, in a fixed order.
Statistics statistics_of(const Tensor& tensor);

}  // namespace npu::graph
