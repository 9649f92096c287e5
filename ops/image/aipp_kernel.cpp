// SPDX-License-Identifier: Apache-2.0
#include "ops/image/aipp_kernel.h"

#include <algorithm>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/image/aipp_kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {

// Channels side by side in memory; kSize is known, so that the loop is one of vectors.
template <int kSize>
HWY_INLINE void read_pixels(const AippRow& row, const int (&order)[4]) {
  for (int c = 0; c < kSize; ++c) {
    const uint8_t* from = row.pixels + order[c];
    uint8_t* to = row.planes[c];
#pragma GCC ivdep
    for (int64_t x = 0; x < row.width; ++x) to[x] = from[x * kSize];
  }
}

HWY_INLINE void read_yuv(const AippRow& row) {
  std::copy_n(row.pixels, row.width, row.planes[0]);
  const int first = row.head->swaps ? 1 : 0;
  uint8_t* u = row.planes[1];
  uint8_t* v = row.planes[2];
#pragma GCC ivdep
  for (int64_t x = 0; x < row.width; ++x) {
    const uint8_t* pair = row.chroma + x / 2 * 2;
    u[x] = pair[first];
    v[x] = pair[1 - first];
  }
}

// The order of channels: rotated first, then the outer two of the first three swapped.
HWY_INLINE void read_rgb(const AippRow& row, bool four) {
  int order[4] = {0, 1, 2, 3};
  if (four && row.head->rotates) std::rotate(order, order + 1, order + 4);
  if (row.head->swaps) std::swap(order[0], order[2]);
  four ? read_pixels<4>(row, order) : read_pixels<3>(row, order);
}

HWY_INLINE uint8_t clamped(int32_t value) { return static_cast<uint8_t>(std::clamp(value, 0, 255)); }

HWY_INLINE void convert_colours(const AippRow& row) {
  const AippHead& head = *row.head;
  const bool yuv = head.format == PictureFormat::kYuv420;
  int32_t before[3] = {}, after[3] = {}, m[9];  // NOLINT: filled below
  std::copy_n(yuv ? head.input_bias : head.output_bias, 3, yuv ? before : after);
  std::copy_n(head.matrix, 9, m);
  uint8_t *first = row.planes[0], *second = row.planes[1], *third = row.planes[2];
#pragma GCC ivdep
  for (int64_t x = 0; x < row.width; ++x) {
    const int32_t a = first[x] - before[0], b = second[x] - before[1], c = third[x] - before[2];
    first[x] = clamped(((m[0] * a + m[1] * b + m[2] * c) >> 8) + after[0]);
    second[x] = clamped(((m[3] * a + m[4] * b + m[5] * c) >> 8) + after[1]);
    third[x] = clamped(((m[6] * a + m[7] * b + m[8] * c) >> 8) + after[2]);
  }
}

void read_row(const AippRow& row) {
  switch (row.head->format) {
    case PictureFormat::kYuv420: read_yuv(row); break;
    case PictureFormat::kXrgb: read_rgb(row, true); break;
    case PictureFormat::kRgb: read_rgb(row, false); break;
    case PictureFormat::kGray: std::copy_n(row.pixels, row.width, row.planes[0]); break;
  }
  if (row.head->converts) convert_colours(row);
}

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(read_row);
void read_aipp_row(const AippRow& row) { HWY_DYNAMIC_DISPATCH(read_row)(row); }
}  // namespace npu::ops
#endif
