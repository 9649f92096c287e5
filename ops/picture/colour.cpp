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

/// One row of three channels, whose elements lie `step` bytes apart.
struct Row {
  std::array<const uint8_t*, 3> from;
  std::array<uint8_t*, 3> to;
  std::array<int64_t, 3> from_step, to_step;
};

// Channels may be changed in place: an element is read before it is written.
template <bool kDense>
void apply_row(const Row& row, int64_t width, const Matrix& matrix) {
  const auto [m0, m1, m2, m3, m4, m5, m6, m7, m8] = matrix.m;
  const auto [before0, before1, before2] = matrix.before;
  const auto [after0, after1, after2] = matrix.after;
#pragma GCC ivdep
  for (int64_t x = 0; x < width; ++x) {
    const auto in = [&](size_t c) { return row.from[c][kDense ? x : x * row.from_step[c]]; };
    const auto out = [&](size_t c) -> uint8_t& { return row.to[c][kDense ? x : x * row.to_step[c]]; };
    const int32_t a = in(0) - before0, b = in(1) - before1, c = in(2) - before2;
    out(0) = rounded(m0 * a + m1 * b + m2 * c, after0);
    out(1) = rounded(m3 * a + m4 * b + m5 * c, after1);
    out(2) = rounded(m6 * a + m7 * b + m8 * c, after2);
  }
}

void apply(const PictureView& from, const PictureView& to, const Matrix& matrix) {
  const int64_t width = to.planes[0].width;
  bool dense = true;
  for (size_t c = 0; c < 3; ++c) dense &= from.planes[c].step == 1 && to.planes[c].step == 1;
  parallel_for(to.planes[0].height, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t y = begin; y < end; ++y) {
                   Row row{};
                   for (size_t c = 0; c < 3; ++c) {
                     row.from[c] = from.planes[c].at(0, y), row.to[c] = to.planes[c].at(0, y);
                     row.from_step[c] = from.planes[c].step, row.to_step[c] = to.planes[c].step;
                   }
                   dense ? apply_row<true>(row, width, matrix) : apply_row<false>(row, width, matrix);
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
