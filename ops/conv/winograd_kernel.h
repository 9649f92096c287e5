// SPDX-License-Identifier: Apache-2.0
// Winograd's F(2x2, 3x3) for images with their channels last: a tile of 4x4 pixels and the 16 numbers that are
// multiplied instead of 36 give 2x2 pixels of the result. Gradients are the same steps turned around.
#pragma once

#include <cstdint>

namespace npu::ops {

inline constexpr int64_t kWinogradPoints = 16;

/// Where the points of a tile or a filter go: point f of channel c to to[f * step + c].
struct WinogradPoints {
  float* to;
  int64_t step;
};

/// The 16 points of `channels` (a multiple of 16, as below) of a tile. Pixels lie `pixel` apart, lines of them `line`.
void winograd_input(const float* tile, int64_t line, int64_t pixel, int64_t channels, const WinogradPoints& points);
/// The same of pixels that lie anywhere: pixel[4 * y + x] is where each begins.
void winograd_input(const float* const* pixel, int64_t channels, const WinogradPoints& points);

/// The way back: 2x2 pixels of `channels` from the points of their products, `step` apart, and `bias` unless that is
/// null. pixel[2 * y + x] is where each goes.
void winograd_output(const float* from, int64_t step, int64_t channels, const float* bias, float* const* pixel);

/// winograd_output turned around, for the gradient of weights: the points of 2x2 pixels, pixel[2 * y + x] each.
void winograd_gradient(const float* const* pixel, int64_t channels, const WinogradPoints& points);

/// The points of `count` filters: tap i of filter c at taps[i * tap + c].
void winograd_filter(const float* taps, int64_t tap, int64_t count, const WinogradPoints& points);

/// winograd_filter turned around: the nine taps of gradients from their points, `step` apart.
void winograd_taps(const float* from, int64_t step, int64_t count, float* taps, int64_t tap);

}  // namespace npu::ops
