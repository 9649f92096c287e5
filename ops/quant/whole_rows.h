// SPDX-License-Identifier: Apache-2.0
// Rows of quantised numbers: int8, uint8 or int32, or 4-bit numbers, two in a byte or eight in an int32, the first in
// the lowest bits.
#pragma once

#include <vector>

#include "ops/quant/kernel.h"
#include "ops/vector/loop/rows.h"

namespace npu::ops {

/// The numbers of the last axes of `t`: what makes one of its rows.
inline std::vector<size_t> last_axes(const Tensor& t, size_t axes) {
  std::vector<size_t> which;
  for (size_t axis = t.rank() > axes ? t.rank() - axes : 0; axis < t.rank(); ++axis) which.push_back(axis);
  return which;
}

class WholeRows {
 public:
  /// `t` holds numbers of `shape`, whose last `axes` make a row. An int8 or int32 tensor whose last dimension is too
  /// small by a factor of 2 or 8 holds 4-bit numbers. Raises 161002 where neither fits.
  void plan(const Tensor& t, const Dims& shape, const char* name, size_t axes = 1);
  float low() const { return low_; }
  float high() const { return high_; }
  int64_t length() const { return length_; }
  int64_t count() const { return rows_.count(); }

  /// Rounds `values` in place, brings them into range and writes them.
  void store(int64_t row, float* values, Rounding rounding = Rounding::kNearest) const;
  void load(int64_t row, float* values) const;

 private:
  Rows rows_;
  int64_t length_ = 0;  ///< numbers in a row
  int64_t bytes_ = 0;   ///< of a row of 4-bit numbers; 0 for others
  float low_ = 0, high_ = 0;
};

}  // namespace npu::ops
