// SPDX-License-Identifier: Apache-2.0
// Gaussian elimination of one dense row-major matrix in float64, and the solution of triangular systems.
#pragma once

#include <cstdint>

namespace npu::ops {

/// Replaces the n x n matrix `a` by its factors P A = L U: U on and above the diagonal, L (ones on its diagonal) below.
/// `pivots[i]` is the row exchanged with row i. The sign of the permutation is returned. Columns without a pivot stay.
int eliminate(double* a, int64_t n, int64_t* pivots);

/// Solves T X = B in place of the n x k matrix `b`. T is the upper or lower triangle of `t`; `unit`: its diagonal is
/// taken as ones. A zero on the diagonal gives infinities, as division does. `E`: double or std::complex<double>.
template <class E>
void solve_triangle(const E* t, int64_t n, bool upper, bool unit, E* b, int64_t k);

}  // namespace npu::ops
