// SPDX-License-Identifier: Apache-2.0
// How products are cut for the kernels of dots_x86.cpp. Many flat tiles: with A in the first-level cache and B in
// panels, a tile of 28 rows is computed as fast as one of 100, and all threads end together.
#include "ops/cube/dots.h"

#include <algorithm>

namespace npu::ops::cube {
namespace {

constexpr int64_t kPartWork = int64_t{1} << 19;  // multiply-adds that pay for another part
constexpr int64_t kParts = 16;                   // a constant: where k is cut into slices shows in the bits
constexpr int64_t kLeastHeight = 28, kMostHeight = 96;
constexpr int64_t kLeastColumns = 128, kMostColumns = 1024;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t round_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

}  // namespace

Tiling plan_dots(int64_t m, int64_t n, int64_t k, int64_t items) {
  Tiling t;
  t.rows = m, t.cols = n, t.depth = k;
  const int64_t work = m * n * k, wanted = std::clamp<int64_t>(work / kPartWork, 1, kParts);
  if (work > 2 * kPartWork || (items == 1 && wanted > 1)) {
    int64_t bands = std::min(wanted, std::max<int64_t>(1, m / kLeastHeight));
    const int64_t groups = std::min(divide_up(wanted, bands), std::max<int64_t>(1, n / kLeastColumns));
    if (bands == kParts) bands *= divide_up(m, kParts * kMostHeight);
    t.rows = divide_up(m, bands);
    t.cols = std::min(round_up(divide_up(n, groups), kPanel), kMostColumns);
    if (t.cols >= n) t.cols = n;
  }
  t.row_tiles = divide_up(m, std::max<int64_t>(t.rows, 1));
  t.col_tiles = divide_up(n, std::max<int64_t>(t.cols, 1));
  // As plan_tiles: few tiles and a long k leave only k to share out.
  if (t.tiles() < 4 && k >= 2048 && work >= 8 * kPartWork)
    t.depth = std::max<int64_t>(1024, round_up(divide_up(k, 8), 64));
  t.slices = std::max<int64_t>(1, divide_up(k, std::max<int64_t>(t.depth, 1)));
  return t;
}

int64_t dots_right_size(int64_t k, int64_t n) { return round_up(k, 2) * round_up(n, kPanel); }

}  // namespace npu::ops::cube
