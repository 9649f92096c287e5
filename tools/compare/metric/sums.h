// SPDX-License-Identifier: Apache-2.0
// What the metrics are made of, taken from blocks of both tensors as they go by. Elements are float, as the published
// formulas have them; sums are double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace npu::compare {

/// Of the first pass. A sum that is no number tells that some of its terms are none; maxima do not.
struct Sums {
  double xy = 0, xx = 0, yy = 0, x = 0, y = 0;
  double absolute = 0, square = 0;  ///< of x - y
  double relative = 0;              ///< of |x / y - 1| where y is not zero
  float most_absolute = 0, most_relative = 0;
  float min_x = std::numeric_limits<float>::infinity(), max_x = -min_x, min_y = min_x, max_y = -min_x;

  void add(const Sums& other);
};

/// What the second pass needs of the first: each side is moved by its smallest element and scaled to [0, 1].
struct Scale {
  float low_x = 0, scale_x = 1, low_y = 0, scale_y = 1;
  double mean_x = 0, mean_y = 0;
};

/// Of the second pass.
struct Spread {
  double x = 0, y = 0;                ///< of the scaled elements
  double weighted = 0;                ///< of x ln(x / y) of the scaled elements
  double square_x = 0, square_y = 0;  ///< of distances from the mean

  void add(const Spread& other);
};

Sums sums_of(const float* x, const float* y, size_t count);
Spread spread_of(const float* x, const float* y, size_t count, const Scale& scale);

}  // namespace npu::compare
