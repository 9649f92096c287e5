// SPDX-License-Identifier: Apache-2.0
#include "ops/picture/histogram.h"

#include <algorithm>

#include "base/thread_pool.h"

namespace npu::ops {
namespace {

constexpr int64_t kWeights[5] = {1, 4, 6, 4, 1};

size_t colours_of(const PictureView& view) { return static_cast<size_t>(std::min(view.channels, 3)); }

int64_t mirrored(int64_t at, int64_t size) {
  if (size == 1) return 0;
  if (at < 0) return -at;
  return at < size ? at : 2 * size - 2 - at;
}

void halve_plane(const Plane& from, const Plane& to) {
  parallel_for(to.height, std::max<int64_t>(1, 4096 / std::max<int64_t>(1, to.width)), [&](int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end; ++y) {
      for (int64_t x = 0; x < to.width; ++x) {
        int64_t sum = 128;
        for (int64_t j = 0; j < 5; ++j)
          for (int64_t i = 0; i < 5; ++i)
            sum += kWeights[j] * kWeights[i] *
                   *from.at(mirrored(2 * x + i - 2, from.width), mirrored(2 * y + j - 2, from.height));
        *to.at(x, y) = static_cast<uint8_t>(sum >> 8);
      }
    }
  });
}

}  // namespace

void count_values(const PictureView& picture, Histogram& counts) {
  counts = {};
  for (size_t c = 0; c < colours_of(picture); ++c) {
    const Plane& plane = picture.planes[c];
    for (int64_t y = 0; y < plane.height; ++y)
      for (int64_t x = 0; x < plane.width; ++x) ++counts[c][*plane.at(x, y)];
  }
}

void look_up(const PictureView& from, const PictureView& to, const LookUp& table) {
  for (size_t c = 0; c < static_cast<size_t>(from.channels); ++c) {
    const Plane &in = from.planes[c], &out = to.planes[c];
    for (int64_t y = 0; y < out.height; ++y)
      for (int64_t x = 0; x < out.width; ++x) *out.at(x, y) = c < 3 ? table[c][*in.at(x, y)] : *in.at(x, y);
  }
}

void halve(const PictureView& from, const PictureView& to) {
  for (size_t c = 0; c < static_cast<size_t>(from.channels); ++c) halve_plane(from.planes[c], to.planes[c]);
}

}  // namespace npu::ops
