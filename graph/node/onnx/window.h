// SPDX-License-Identifier: Apache-2.0
// Moving windows as ONNX describes them: kernel_shape, strides, dilations, pads, auto_pad, ceil_mode.
#pragma once

#include <span>
#include <vector>

#include "graph/node/onnx/inputs.h"

namespace npu::graph::onnx {

struct Windows {
  std::vector<int64_t> kernel, stride, dilation;
  std::vector<int64_t> before, after;  ///< what is seen beyond the edges of each axis
  std::vector<int64_t> out;            ///< positions of the window
  size_t axes() const { return kernel.size(); }
  int64_t reach(size_t axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
  /// Before and after, axis by axis.
  std::vector<int64_t> padding() const;
};

/// The list of one number for each spatial axis; `otherwise` everywhere where it is left out.
std::vector<int64_t> per_axis(const Lowering& l, std::string_view name, size_t axes, int64_t otherwise);

/// Windows of size `kernel` over an image with axes of sizes `in`. Raises 161002 where one does not fit.
Windows windows_of(const Lowering& l, std::span<const int64_t> in, const std::vector<int64_t>& kernel);

/// Kernel sizes: the attribute, which must be there.
std::vector<int64_t> kernel_of(const Lowering& l, size_t axes);

}  // namespace npu::graph::onnx
