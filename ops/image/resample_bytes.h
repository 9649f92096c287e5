// SPDX-License-Identifier: Apache-2.0
// Resizing of planes of bytes in whole numbers, as torch's CPU (and Pillow) does it: weights are rounded to 16 bits
// with a common binary exponent, rows are resized first and rounded to bytes, then columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/image/resample.h"
#include "ops/pooling/planes.h"

namespace npu::ops {

/// Output o is the sum of weight[o * taps + k] * input[first[o] + k], divided by 2^shift, rounded and clamped to a
/// byte.
struct ByteAxis {
  int64_t in = 1, out = 1, taps = 1;
  std::vector<int64_t> first;
  std::vector<int32_t> weight;  ///< within 16 bits
  int shift = 0;
};
/// The table of an axis in whole numbers. An axis of equal sizes is copied, whatever its weights.
ByteAxis byte_axis(const ResampleAxis& axis);

struct BytePart {
  const ByteAxis *height, *width;
  PlaneView small;  ///< bytes of the input's size
  PlaneView large;  ///< bytes of the output's size
  std::byte* room;  ///< byte_room() bytes, aligned for int32
  int64_t lanes;
};
/// Bytes that resize_bytes needs beside the planes, of up to `lanes` lanes.
int64_t byte_room(const ByteAxis& height, const ByteAxis& width, int64_t lanes);
void resize_bytes(const BytePart& part);

}  // namespace npu::ops
