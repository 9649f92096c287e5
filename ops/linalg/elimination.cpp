// SPDX-License-Identifier: Apache-2.0
// Rows are exchanged so that each pivot is the largest of its column: factors are then at most 1, and rounding errors
// are not blown up. Inner loops run along rows, which lie in memory as they are walked. double throughout: what
// rounding leaves is far below float32's.
#include "ops/linalg/elimination.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace npu::ops {

int eliminate(double* a, int64_t n, int64_t* pivots) {
  int sign = 1;
  for (int64_t i = 0; i < n; ++i) {
    int64_t best = i;
    for (int64_t r = i + 1; r < n; ++r) {
      if (std::abs(a[r * n + i]) > std::abs(a[best * n + i])) best = r;
    }
    pivots[i] = best;
    // A singular matrix is no error here: its zero pivot stays on the diagonal, where the caller finds it.
    if (a[best * n + i] == 0) continue;
    if (best != i) {
      std::swap_ranges(a + i * n, a + (i + 1) * n, a + best * n);
      sign = -sign;
    }
    for (int64_t r = i + 1; r < n; ++r) {
      const double factor = a[r * n + i] /= a[i * n + i];
      // Zeros, as those of a matrix that is triangular already, cost nothing.
      if (factor == 0) continue;
      for (int64_t c = i + 1; c < n; ++c) a[r * n + c] -= factor * a[i * n + c];
    }
  }
  return sign;
}

template <class E>
void solve_triangle(const E* t, int64_t n, bool upper, bool unit, E* b, int64_t k) {
  for (int64_t step = 0; step < n; ++step) {
    // All k right sides at once: the loop over them is the inner one, and dense.
    const int64_t i = upper ? n - 1 - step : step;
    const int64_t first = upper ? i + 1 : 0, last = upper ? n : i;
    E* row = b + i * k;
    for (int64_t j = first; j < last; ++j) {
      const E factor = t[i * n + j];
      const E* other = b + j * k;
      for (int64_t c = 0; c < k; ++c) row[c] -= factor * other[c];
    }
    for (int64_t c = 0; c < k && !unit; ++c) row[c] /= t[i * n + i];
  }
}

template void solve_triangle(const double*, int64_t, bool, bool, double*, int64_t);
template void solve_triangle(const std::complex<double>*, int64_t, bool, bool, std::complex<double>*, int64_t);

}  // namespace npu::ops
