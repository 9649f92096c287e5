// SPDX-License-Identifier: Apache-2.0
// Which input elements each output of a pooling looks at. The axes of a window are independent, so one table per axis
// says it all, and fixed and adaptive windows look the same to the kernels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/tensor.h"

namespace npu::ops {

/// Window of output o: input positions first[o] + j * dilation, j in [0, count[o]), all inside the input.
struct PoolAxis {
  int64_t in = 1, out = 1;
  int64_t kernel = 0;  ///< size of a fixed window; 0 when windows are adaptive
  int64_t stride = 1, padding = 0, padding_after = 0, dilation = 1;
  std::vector<int64_t> first, count;
  std::vector<int64_t> skip;     ///< elements of a fixed window that lie in the padding before the input
  std::vector<int64_t> covered;  ///< what the axis adds to the divisor of an average
  /// Fixed windows: outputs [from[k], to[k]) have their element k inside the input.
  std::vector<int64_t> from, to;
};

/// Depth, height, width; a 2-D pooling has depth 1.
using PoolWindow = std::array<PoolAxis, 3>;

/// The C interface's description of fixed windows: one number per axis, or one for all; no stride means the kernel's.
/// Padding may also be two numbers per axis, before and after it.
struct PoolSizes {
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool ceil_mode = false;
  bool count_padding = false;  ///< averages divide by the window's size with its padding
};

/// Windows over the last `spatial` axes of `self`. Raises 161002 when sizes make no sense.
PoolWindow fixed_window(const Tensor& self, size_t spatial, const PoolSizes& sizes);
/// Windows that cut `self` into `output` nearly equal parts per axis. Raises 161002.
PoolWindow adaptive_window(const Tensor& self, size_t spatial, std::span<const int64_t> output);
/// Refuses (161002) a tensor that is not `self` with its last axes as the window's outputs.
void check_pooled(const char* name, const Tensor& tensor, const Tensor& self, size_t spatial, const PoolWindow& window);

}  // namespace npu::ops
