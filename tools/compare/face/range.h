// SPDX-License-Identifier: Apache-2.0
// Shape, type and range of a tensor, in the words of the precision tool.
#pragma once

#include <string>

#include "tools/compare/tensor/tensor.h"

namespace npu::compare {

/// What a tensor holds, NaN left out of the extremes and the mean and counted instead.
struct Range {
  std::string shape, type, most, least, mean;
  uint64_t nans = 0;
};
Range range_of(const Tensor& tensor);

/// "[Shape: (2, 3)] [Dtype: float32] [Max: 1] [Min: 0] [Mean: 0.5]".
std::string in_one_line(const Range& range);

/// One element a line.
void write_elements(const Tensor& tensor, const std::string& path);

}  // namespace npu::compare
