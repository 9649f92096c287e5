// SPDX-License-Identifier: Apache-2.0
// The geometry of a convolution, and of a part of one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/dtype.h"

namespace npu::ops::cube {

/// Two or three spatial axes (one-dimensional convolution is two-dimensional of height 1).
inline constexpr size_t kMaxSpatial = 3;
using Spatial = std::array<int64_t, kMaxSpatial>;

/// The spatial axes of images.
inline constexpr size_t kY = 1, kX = 2;

/// src [n, c, in…] * weight [o, c / groups, kernel…] -> dst [n, o, out…]; a transposed convolution is the data gradient
/// of one of these.
struct ConvShape {
  int64_t n = 0, c = 0, o = 0, groups = 1;
  int64_t rank = 2;  ///< spatial axes
  Spatial in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  Spatial pad{0, 0, 0};  ///< before the first element of each axis; what follows the last comes from the sizes

  bool operator==(const ConvShape&) const = default;

  int64_t pad_after(size_t d) const {
    return (out[d] - 1) * stride[d] + dilation[d] * (kernel[d] - 1) + 1 - in[d] - pad[d];
  }
  static int64_t product(const Spatial& s) { return s[0] * s[1] * s[2]; }
  int64_t in_pixels() const { return product(in); }
  int64_t out_pixels() const { return product(out); }
  int64_t weight_count() const { return o * (c / std::max<int64_t>(groups, 1)) * product(kernel); }
  /// Multiply-adds.
  int64_t work() const { return n * out_pixels() * weight_count(); }
  /// A product of matrices in disguise.
  bool pointwise() const {
    return groups == 1 && product(kernel) == 1 && in == out && product(stride) == 1 && pad == Spatial{0, 0, 0};
  }
};

}  // namespace npu::ops::cube
