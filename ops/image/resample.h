// SPDX-License-Identifier: Apache-2.0
// Resizing of images as weighted sums along each axis: which input elements make an output, and by what share. Nearest,
// linear, cubic and antialiased resizing differ in these tables only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace npu::ops {

/// Output o is the sum of weight[o * taps + k] * input[index[o * taps + k]].
struct ResampleAxis {
  int64_t in = 1, out = 1, taps = 1;
  std::vector<int64_t> index{0};
  std::vector<double> weight{1};
  std::vector<float> weight32{1};  ///< the same for kernels in float
};

/// Depth, height, width; missing axes have one element.
using ResampleAxes = std::array<ResampleAxis, 3>;

/// How one axis is resized.
struct ResampleRule {
  /// nearest, nearest_exact, linear, linear_origin (positions counted from the first element's own), cubic, linear_aa
  /// or cubic_aa.
  std::string mode = "linear";
  bool align_corners = false;
  bool single = true;  ///< positions of nearest are computed in float32, as for float32 and smaller tensors
};

/// The table of one axis. `scale` is the factor out / in that the client gave; 0, -1 and 1 stand for none. As in
/// PyTorch it counts where it leads to another size, too. Raises 500000 for an unknown mode.
ResampleAxis resample_axis(int64_t in, int64_t out, double scale, const ResampleRule& rule);

}  // namespace npu::ops
