// SPDX-License-Identifier: Apache-2.0
#include "ops/image/grid_tap.h"

#include <cmath>

namespace npu::ops {
namespace {

/// A coordinate in elements and how it moves with the grid's.
struct Position {
  double at, slope;
};

Position clip(Position p, int64_t size) {
  // A NaN fails the comparison and goes to the first element, so that no index is ever made of one. Beyond the border
  // the position does not move with the grid, hence the slope 0.
  const auto last = static_cast<double>(size - 1);
  if (!(p.at > 0)) return {0, 0};
  return p.at >= last ? Position{last, 0} : p;
}

Position reflect(Position p, int64_t size, bool align_corners) {
  const double low = align_corners ? 0 : -0.5;
  // One element without room between its centres: there is nothing to reflect at.
  const auto span = static_cast<double>(align_corners ? size - 1 : size);
  if (span <= 0) return {0, 0};
  double distance = p.at - low;
  // Each reflection turns the direction around.
  if (distance < 0) p.slope = -p.slope;
  distance = std::abs(distance);
  // The remainder decides and not a loop: a point may be any number of images away.
  const double rest = std::fmod(distance, span);
  const bool back = std::fmod(std::floor(distance / span), 2) != 0;
  return back ? Position{span - rest + low, -p.slope} : Position{rest + low, p.slope};
}

Position pad(Position p, int64_t size, const GridRule& rule) {
  if (rule.padding == GridPadding::kZeros) return p;
  if (rule.padding == GridPadding::kReflection) p = reflect(p, size, rule.align_corners);
  return clip(p, size);
}

// Compared as numbers: a NaN or a position beyond 64 bits is outside, and is never cast.
int64_t inside(double at, int64_t size) {
  return at >= 0 && at < static_cast<double>(size) ? static_cast<int64_t>(at) : -1;
}

// Keys' cubic convolution with a = -0.75, and its derivative by x.
double cubic(double x) {
  x = std::abs(x);
  if (x < 1) return (1.25 * x - 2.25) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.75 : 0;
}
double cubic_slope(double x) {
  const double sign = x < 0 ? -1 : 1;
  x = std::abs(x);
  if (x < 1) return sign * (3.75 * x - 4.5) * x;
  return x < 2 ? sign * ((3 * x - 10) * x + 8) * -0.75 : 0;
}

}  // namespace

void grid_taps(double g, int64_t size, const GridRule& rule, GridTap* taps) {
  const auto n = static_cast<double>(size);
  Position p =
      rule.align_corners ? Position{(g + 1) / 2 * (n - 1), (n - 1) / 2} : Position{((g + 1) * n - 1) / 2, n / 2};
  if (rule.mode == GridMode::kCubic) {
    const double first = std::floor(p.at);
    // Each of the four elements is padded on its own, as torch does; the point itself is not, so its slope stays.
    for (int64_t k = 0; k < 4; ++k) {
      const double from = p.at - first - static_cast<double>(k - 1);
      taps[k] = {inside(pad({first + static_cast<double>(k - 1), 0}, size, rule).at, size), cubic(from),
                 cubic_slope(from) * p.slope};
    }
    return;
  }
  p = pad(p, size, rule);
  if (rule.mode == GridMode::kNearest) {
    // Halves go to the even neighbour, as torch's nearbyint has it. A nearest element does not move with the grid.
    taps[0] = {inside(std::nearbyint(p.at), size), 1, 0};
    return;
  }
  const double first = std::floor(p.at), share = p.at - first;
  // The second tap of a point on the last element is outside, with weight 0.
  taps[0] = {inside(first, size), 1 - share, -p.slope};
  taps[1] = {inside(first + 1, size), share, p.slope};
}

}  // namespace npu::ops
