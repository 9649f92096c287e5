// SPDX-License-Identifier: Apache-2.0
// What products beside an all_to_all have in common: weights that clients give turned, and axes of one value.
#pragma once

#include <fmt/ranges.h>

#include <vector>

#include "base/tensor.h"

namespace npu::comm {

inline Tensor turned(const Tensor& matrix, bool turn) {
  return turn ? matrix.view({matrix.shape[1], matrix.shape[0]}, {matrix.strides[1], matrix.strides[0]}) : matrix;
}

inline void check_exchange(const Tensor& x1, const Tensor& x2, const std::vector<int64_t>& axes,
                           const std::vector<int64_t>& only, bool transpose_x1) {
  require(x1.rank() == 2, "x1 is {}; it has 2 dimensions", x1.shape);
  require(x2.rank() == 2, "x2 is {}; it has 2 dimensions", x2.shape);
  require(axes.empty() || axes == only, "all2all_axes are {}; leave them out or use {}", axes, only);
  require(!transpose_x1, "transpose_x1 is set; it is not built: transpose x1 before the call");
}

}  // namespace npu::comm
