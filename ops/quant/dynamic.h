// SPDX-License-Identifier: Apache-2.0
// Quantisation by the extremes of each row.
#pragma once

#include "ops/quant/whole_rows.h"

namespace npu::ops {

/// One number for each row.
struct RowScale {
  float scale = 0, offset = 0;
};

/// The scale that brings `n` numbers over the range of `out`, and without symmetry an offset.
RowScale scale_of(const WholeRows& out, const float* values, int64_t n, bool symmetric);
/// Writes `values` (which are lost) by a scale that is known.
void write_row(const WholeRows& out, int64_t row, float* values, const RowScale& by, bool symmetric);

/// Writes `values` (which are lost) as whole numbers over the range of `out`: values = (out - offset) * scale. Without
/// an offset the largest magnitude becomes the largest number. A row of zeros has scale 0.
RowScale quantise_row(const WholeRows& out, int64_t row, float* values, bool symmetric = true);

/// Writes the only number of a row.
inline void store_number(const Rows& rows, int64_t row, float value) {
  float buffer = 0;
  void* target = rows.target(row, &buffer);
  *static_cast<float*>(target) = value;
  rows.store(row, target);
}

}  // namespace npu::ops
