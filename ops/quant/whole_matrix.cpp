// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/whole_matrix.h"

#include "ops/vector/conversion/nibble.h"

namespace npu::ops {
namespace {

// Eight numbers of an int32 are neighbours in memory: those of a row, or of a column of a matrix stored by columns.
Tensor unpacked(const Tensor& t, const char* name) {
  const size_t last = t.rank() - 1, row = last - 1;
  const bool by_columns = t.strides[row] == 1 && t.strides[last] == t.shape[row] && t.count() > 1;
  const size_t dense = by_columns ? row : last;
  require(t.shape[dense] == 1 || t.strides[dense] == 1,
          "{} is {} with strides {}: an int32 holds eight neighbours, so rows or columns must be dense", name, t,
          t.strides);
  Tensor out = t;
  out.dtype = DType::kInt4;
  out.offset *= 8;
  for (size_t i = 0; i < out.rank(); ++i) out.strides[i] *= 8;
  out.strides[dense] = 1;
  out.shape[dense] *= 8;
  return out;
}

}  // namespace

void WholeMatrix::plan(const Tensor& t, bool transpose, const char* name) {
  require(t.rank() >= 2, "{} is {}; it needs 2 dimensions at least", name, t);
  require(t.dtype == DType::kInt8 || t.dtype == DType::kInt4 || t.dtype == DType::kInt32,
          "{} is {}; use int8, int4, or int32 with eight int4 in each", name, t);
  t_ = t.dtype == DType::kInt32 ? unpacked(t, name) : t;
  if (transpose) t_ = t_.transposed(t_.rank() - 2, t_.rank() - 1);
  by_rows_ = t_.strides.back() == 1 || t_.strides[t_.rank() - 2] != 1;
  convert_ = four_bits() ? nullptr : converter(DType::kInt8, DType::kFloat);
}

void WholeMatrix::expand(const Dims& batch) {
  Dims shape = batch;
  shape.push_back(rows()), shape.push_back(columns());
  t_ = t_.expanded(shape);
}

void WholeMatrix::load(int64_t item, int64_t row, int64_t rows, int64_t column, int64_t columns, float* to) const {
  const size_t axes = t_.rank() - 2;
  int64_t start = t_.offset + row * t_.strides[axes] + column * t_.strides[axes + 1];
  for (size_t i = axes; i-- > 0; item /= t_.shape[i]) start += item % t_.shape[i] * t_.strides[i];
  const int64_t lines = by_rows_ ? rows : columns, length = by_rows_ ? columns : rows;
  const int64_t line_step = t_.strides[by_rows_ ? axes : axes + 1], step = t_.strides[by_rows_ ? axes + 1 : axes];
  const auto* data = static_cast<const uint8_t*>(t_.data);
  for (int64_t line = 0; line < lines; ++line, start += line_step, to += length) {
    if (convert_ != nullptr)
      convert_(data + start, step, to, 1, length);
    else
      read_nibbles(data, start, step, to, length);
  }
}

}  // namespace npu::ops
