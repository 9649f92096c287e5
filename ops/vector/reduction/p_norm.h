// SPDX-License-Identifier: Apache-2.0
// The p-norm of a row of numbers, for the operators that scale rows down to a largest norm.
#pragma once

#include <cmath>
#include <cstdint>

namespace npu::ops {

/// p = 0 counts what is not zero, an infinite p takes the largest magnitude.
inline double p_norm(const double* x, int64_t count, double p) {
  double total = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double v = std::abs(x[i]);
    if (std::isinf(p))
      total = v > total || std::isnan(v) ? v : total;  // NaN stays: nothing is above it
    else if (p == 0)
      total += v == 0 ? 0 : 1;
    else
      total += p == 2 ? v * v : std::pow(v, p);
  }
  if (std::isinf(p) || p == 0) return total;
  return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
}

}  // namespace npu::ops
