// SPDX-License-Identifier: Apache-2.0
// Winograd's F(2x2, 3x3) for images with their channels last: a tile of 4x4 pixels and the 16 numbers that are
// multiplied instead of 36 give 2x2 pixels of the result. Gradients are the same steps turned around.
#pragma once

#include <cstdint>

namespace npu::ops {

inline constexpr int64_t kWinogradPoints = 16;
inline constexpr int64_t kWinogradPanel = 16;  ///< columns of a right operand that lie together
inline constexpr int64_t kWinogradRows = 8;    ///< rows of a product come in multiples of this

/// Where the points of a tile go: point f of channel c to to[f * point + c / kWinogradPanel * panel +
/// c % kWinogradPanel].
struct WinogradPlace {
  float* to;
  int64_t point, panel;
};

/// The 16 points of `channels` (a multiple of kWinogradPanel) of a tile. Pixels lie `pixel` apart, lines of them
/// `line`.
void winograd_input(const float* tile, int64_t line, int64_t pixel, int64_t channels, const WinogradPlace& place);
/// The same of pixels that lie anywhere: pixel[4 * y + x] is where each begins.
void winograd_input(const float* const* pixel, int64_t channels, const WinogradPlace& place);

/// The way back: 2x2 pixels of `channels` from the points of their products, `stride` apart, and `bias` unless that is
/// null. pixel[2 * y + x] is where each goes.
void winograd_output(const float* from, int64_t stride, int64_t channels, const float* bias, float* const* pixel);

/// winograd_output turned around, for the gradient of weights: the points of 2x2 pixels, pixel[2 * y + x] each.
void winograd_gradient(const float* const* pixel, int64_t channels, const WinogradPlace& place);

/// The points of filters: tap i of filter c (of `count`, a multiple of kWinogradPanel) at taps[i * tap + c], its point
/// f at to[f * point + c].
void winograd_filter(const float* taps, int64_t tap, int64_t count, float* to, int64_t point);

/// winograd_filter turned around: the nine taps of a gradient from its points.
void winograd_taps(const float* from, int64_t point, int64_t count, float* taps, int64_t tap);

/// c[rows][cols] (+)= A B, number (r, p) of A at a[r * a_row + p] or, `turned`, at a[p * a_row + r], and (p, j) of B at
/// b[j / kWinogradPanel * panel + p * kWinogradPanel + j % kWinogradPanel]. Each number is one sum over p; `add` adds
/// it as a whole.
struct WinogradProduct {
  int64_t rows, cols, k;  ///< rows a multiple of kWinogradRows, cols of kWinogradPanel
  const float* a;
  int64_t a_row;
  bool turned;
  const float* b;
  int64_t panel;
  float* c;
  int64_t ldc;
  bool add;
};
void winograd_product(const WinogradProduct& product);

}  // namespace npu::ops
