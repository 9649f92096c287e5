// SPDX-License-Identifier: Apache-2.0
// Where a point of a sampling grid reads an image along one axis. Coordinates are computed in double, so that points
// on the border between two elements fall the same way for every dtype.
#pragma once

#include <cstdint>

namespace npu::ops {

enum class GridMode : int64_t { kLinear, kNearest, kCubic };
enum class GridPadding : int64_t { kZeros, kBorder, kReflection };

struct GridRule {
  GridMode mode = GridMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;  ///< -1 and 1 are the centres of the outer elements, not their outer edges

  int64_t taps() const { return mode == GridMode::kNearest ? 1 : mode == GridMode::kLinear ? 2 : 4; }
};

struct GridTap {
  int64_t index = 0;  ///< of the element; -1 = outside, reads as 0
  double weight = 1;
  double slope = 0;  ///< of the weight, by the grid's coordinate
};

/// Fills rule.taps() taps for coordinate `g` (-1 … 1 spans the image) on an axis of `size` elements.
void grid_taps(double g, int64_t size, const GridRule& rule, GridTap* taps);

}  // namespace npu::ops
