// SPDX-License-Identifier: Apache-2.0
// Inner loops of normalisation along rows, in float or double: layer norm and RMS norm. A row is n contiguous elements;
// weight and bias are rows too, or null.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace npu::ops {

/// What one row was normalised with: out = (x - mean) * rstd * weight + bias. RMS norm has mean 0.
struct RowMoments {
  double mean = 0;
  double rstd = 0;
};

/// One row of a gradient. `weight_sum` and `bias_sum` are rows that grow by this row's share; null where unwanted.
struct RowGradient {
  const void* g;
  const void* x;
  const void* weight;
  void* out;  ///< null: only the sums are wanted
  void* weight_sum;
  void* bias_sum;
  int64_t n;
};

struct RowKernel {
  RowMoments (*layer_moments)(const void* x, int64_t n, double eps);
  RowMoments (*rms_moments)(const void* x, int64_t n, double eps);
  void (*normalise)(const void* x, const void* weight, const void* bias, void* out, int64_t n, const RowMoments& m);
  void (*layer_gradient)(const RowGradient& row, const RowMoments& m);
  void (*rms_gradient)(const RowGradient& row, const RowMoments& m);
  /// out = a + b, elements of rows; out may be a.
  void (*add)(const void* a, const void* b, void* out, int64_t n);
  /// Adds a row to a row of doubles and clears it.
  void (*flush)(void* row, int64_t n, double* total);
};

/// Kernels of the running CPU for float32 or float64.
const RowKernel& row_kernel(DType slot);

}  // namespace npu::ops
