// SPDX-License-Identifier: Apache-2.0
// Numbers as bytes whose scale is taken from the numbers themselves (DynamicQuantizeLinear): q stands for
// (q - zero) · scale, and [0, 255] spans their least, their largest and 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace npu::graph::onnx {

struct ByteScale {
  float scale = 0, zero = 0;

  /// The byte of x; the zero point where all numbers are 0.
  float byte(float x) const {
    const float q = scale == 0 ? 0.0F : std::nearbyint(x / scale);
    return std::clamp(q + zero, 0.0F, 255.0F);
  }
  /// What the byte of x stands for.
  float rounded(float x) const { return (byte(x) - zero) * scale; }
};

inline ByteScale byte_scale_of(const float* x, int64_t count) {
  float low = 0, high = 0;
  for (int64_t i = 0; i < count; ++i) low = std::min(low, x[i]), high = std::max(high, x[i]);
  const float scale = (high - low) / 255.0F;
  return {scale, scale == 0 ? 0.0F : std::clamp(std::nearbyint(-low / scale), 0.0F, 255.0F)};
}

}  // namespace npu::graph::onnx
