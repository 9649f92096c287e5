// SPDX-License-Identifier: Apache-2.0
// Winograd's F(2x2, 3x3) for images with their channels last: a tile of 4x4 pixels and the 16 numbers that are
// multiplied instead of 36 give 2x2 pixels of the result.
#pragma once

#include <cstdint>

namespace npu::ops {

inline constexpr int64_t kWinogradPoints = 16;

/// The 16 points of a tile of `channels` (a multiple of 16): point f, channel c at to[f * stride + c]. Pixels lie
/// `channels` apart, lines of them `line`.
void winograd_input(const float* tile, int64_t line, int64_t channels, float* to, int64_t stride);

/// The way back: 2x2 pixels of `channels` from the points of their products, and `bias` unless that is null.
/// pixel[2 * y + x] is where each goes.
void winograd_output(const float* from, int64_t stride, int64_t channels, const float* bias, float* const* pixel);

/// The 16 points of a filter of 3x3 numbers, row-major.
void winograd_filter(const float* filter, float* points);

}  // namespace npu::ops
