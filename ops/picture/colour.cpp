// SPDX-License-Identifier: Apache-2.0
// Both ways are a matrix of integers of 14 bits, made from the two numbers that each standard gives, rounded once.
#include "ops/picture/colour.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/thread_pool.h"

namespace npu::ops {
namespace {

constexpr int kBits = 14;

struct Matrix {
  std::array<int32_t, 9> m;
  std::array<int32_t, 3> before, after;
};

struct Shares {
  double red, blue;  ///< of Y
};
constexpr Shares kShares[] = {{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}};

struct Range {
  double y, uv;  ///< how far each goes, of 255
  int32_t low;   ///< of Y
};

Range range_of(ColourStandard standard) {
  const bool wide = static_cast<int>(standard) % 2 == 0;
  return wide ? Range{255, 255, 0} : Range{219, 224, 16};
}

int32_t fixed(double value) { return static_cast<int32_t>(std::lround(value * (1 << kBits))); }

Matrix to_rgb(ColourStandard standard) {
  const auto [red, blue] = kShares[static_cast<int>(standard) / 2];
  const Range range = range_of(standard);
  const double green = 1 - red - blue, y = 255 / range.y, uv = 255 / range.uv;
  const double v_red = 2 * (1 - red) * uv, u_blue = 2 * (1 - blue) * uv;
  return {{fixed(y), 0, fixed(v_red), fixed(y), fixed(-u_blue * blue / green), fixed(-v_red * red / green), fixed(y),
           fixed(u_blue), 0},
          {range.low, 128, 128},
          {0, 0, 0}};
}

Matrix to_yuv(ColourStandard standard) {
  const auto [red, blue] = kShares[static_cast<int>(standard) / 2];
  const Range range = range_of(standard);
  const double green = 1 - red - blue, y = range.y / 255, uv = range.uv / 255;
  const double u = uv / (2 * (1 - blue)), v = uv / (2 * (1 - red));
  return {{fixed(y * red), fixed(y * green), fixed(y * blue), fixed(-u * red), fixed(-u * green), fixed(u * (1 - blue)),
           fixed(v * (1 - red)), fixed(-v * green), fixed(-v * blue)},
          {0, 0, 0},
          {range.low, 128, 128}};
}

uint8_t rounded(int32_t sum, int32_t after) {
  return static_cast<uint8_t>(std::clamp(((sum + (1 << (kBits - 1))) >> kBits) + after, 0, 255));
}

void apply(const PictureView& from, const PictureView& to, const Matrix& matrix) {
  const auto& m = matrix.m;
  const auto& before = matrix.before;
  const int64_t width = to.planes[0].width;
  parallel_for(to.planes[0].height, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t y = begin; y < end; ++y) {
                   for (int64_t x = 0; x < width; ++x) {
                     const int32_t a = *from.planes[0].at(x, y) - before[0], b = *from.planes[1].at(x, y) - before[1],
                                   c = *from.planes[2].at(x, y) - before[2];
                     *to.planes[0].at(x, y) = rounded(m[0] * a + m[1] * b + m[2] * c, matrix.after[0]);
                     *to.planes[1].at(x, y) = rounded(m[3] * a + m[4] * b + m[5] * c, matrix.after[1]);
                     *to.planes[2].at(x, y) = rounded(m[6] * a + m[7] * b + m[8] * c, matrix.after[2]);
                   }
                 }
               });
}

}  // namespace

void yuv_to_rgb(const PictureView& from, const PictureView& to, ColourStandard standard) {
  apply(from, to, to_rgb(standard));
}
void rgb_to_yuv(const PictureView& from, const PictureView& to, ColourStandard standard) {
  apply(from, to, to_yuv(standard));
}

}  // namespace npu::ops
