// SPDX-License-Identifier: Apache-2.0
// Inner loops of normalisation over channels, in float or double. Rows are runs of one channel in memory; columns are
// neighbouring channels side by side (channels-last, or a matrix).
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace npu::ops {

/// Two running numbers of a channel: mean and sum of squared deviations, or the two sums of a gradient.
struct ChannelSums {
  double first = 0;
  double second = 0;
};

/// Joins the mean and squared deviations of `na` and `nb` elements (Chan's rule, stable for any mean).
inline ChannelSums join_moments(const ChannelSums& a, int64_t na, const ChannelSums& b, int64_t nb) {
  if (nb == 0) return a;
  const double share = static_cast<double>(nb) / static_cast<double>(na + nb);
  const double delta = b.first - a.first;
  return {a.first + delta * share, a.second + b.second + delta * delta * static_cast<double>(na) * share};
}

/// Coefficients per channel, each an array over the channels or null where a map does not use it.
struct ChannelMap {
  const double* center = nullptr;  ///< subtracted from x
  const double* scale = nullptr;
  const double* shift = nullptr;
  const double* slope = nullptr;  ///< of the centred x, in gradients
};

/// A block of `rows` rows by `width` channels; a row step is in elements.
struct ChannelBlock {
  const void* x;
  const void* g;  ///< incoming gradient, or null
  void* out;
  int64_t x_step, g_step, out_step;
  int64_t rows, width;
};

struct ChannelKernel {
  /// Mean and deviations of x[0, n), joined to `sums` of `before` elements.
  void (*moments_row)(const void* x, int64_t n, int64_t before, ChannelSums* sums);
  /// Adds sum(g) and sum(g * (x - center)).
  void (*products_row)(const void* g, const void* x, int64_t n, double center, ChannelSums* sums);
  /// out = (x - center) * scale + shift, of channel `c` of the map.
  void (*affine_row)(const void* x, void* out, int64_t n, const ChannelMap& map, int64_t c);
  /// out = (g - shift - (x - center) * slope) * scale.
  void (*gradient_row)(const void* g, const void* x, void* out, int64_t n, const ChannelMap& map, int64_t c);
  // The same over blocks; map and sums start at the block's first channel. Sums of `before` = 0 elements are 0.
  void (*moments_columns)(const ChannelBlock& block, int64_t before, ChannelSums* sums);
  void (*products_columns)(const ChannelBlock& block, const double* center, ChannelSums* sums);
  void (*affine_columns)(const ChannelBlock& block, const ChannelMap& map);
  void (*gradient_columns)(const ChannelBlock& block, const ChannelMap& map);
};

/// Kernels of the running CPU for float32 or float64.
const ChannelKernel& channel_kernel(DType slot);

/// Column kernels take at most this many rows and channels at a time: a tile stays in the second-level cache.
inline constexpr int64_t kRowTile = 32;
inline constexpr int64_t kChannelTile = 512;

}  // namespace npu::ops
