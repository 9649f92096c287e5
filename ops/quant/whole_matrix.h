// SPDX-License-Identifier: Apache-2.0
// Matrices of int8 or 4-bit numbers, as the products of quantised networks read them.
#pragma once

#include "base/tensor.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {

class WholeMatrix {
 public:
  /// The last two axes of `t`, exchanged where `transpose` says so; the others are a batch. int32 holds eight 4-bit
  /// numbers that are neighbours in a row, or in a column where columns lie dense. Raises 161002 for other types.
  void plan(const Tensor& t, bool transpose, const char* name);
  int64_t rows() const { return t_.shape[t_.rank() - 2]; }
  int64_t columns() const { return t_.shape.back(); }
  bool four_bits() const { return t_.dtype == DType::kInt4; }
  Dims batch() const { return Dims(std::span(t_.shape.data(), t_.rank() - 2)); }
  /// The same numbers at another place.
  void lie_at(void* data) { t_.data = data; }
  /// Repeats the matrices until the batch is `batch`.
  void expand(const Dims& batch);

  /// Whether load gives rows; else columns, one behind the other.
  bool by_rows() const { return by_rows_; }
  /// Part of matrix `item` as floats.
  void load(int64_t item, int64_t row, int64_t rows, int64_t column, int64_t columns, float* to) const;

 private:
  Tensor t_;  ///< int8 or int4; offset and strides count numbers
  Convert convert_ = nullptr;
  bool by_rows_ = true;
};

}  // namespace npu::ops
