// SPDX-License-Identifier: Apache-2.0
#include "ops/moe/dequantise.h"

#include <bit>
#include <cmath>

#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/conversion/nibble.h"

namespace npu::ops {
namespace {

/// Row i of `grid` (a scale or an offset), columns from `col` on.
void read_row(const Tensor& grid, int64_t i, int64_t col, int64_t count, float missing, float* to) {
  if (!grid.defined()) return std::fill_n(to, count, missing), void();
  const int64_t from = i * grid.strides[0] + col * grid.strides[1];
  converter(grid.dtype, DType::kFloat)(grid.bytes() + from * static_cast<int64_t>(size_of(grid.dtype)), grid.strides[1],
                                       to, 1, count);
}

void read_weight(const Matrix& m, float* to) {
  if (m.dtype != DType::kInt4) return read(m, to);
  const bool columns = m.by_columns();
  const int64_t outer = columns ? m.cols : m.rows, inner = columns ? m.rows : m.cols;
  const int64_t outer_stride = columns ? m.col : m.row, inner_stride = columns ? m.row : m.col;
  for (int64_t o = 0; o < outer; ++o)
    read_nibbles(m.data, m.first + o * outer_stride, inner_stride, to + o * inner, inner);
}

}  // namespace

PackedScale::PackedScale(int64_t bits)
    : scale(std::bit_cast<float>(static_cast<uint32_t>(bits))),
      offset(static_cast<float>(static_cast<int64_t>(static_cast<uint64_t>(bits) << 18) >> 55)) {}

Tensor unpacked(const Tensor& weight) {
  if (weight.dtype != DType::kInt32) return weight;
  require(weight.strides.back() == 1, "weight is {} with strides {}: int32 holds eight neighbours of a row", weight,
          weight.strides);
  Tensor out = weight;
  out.dtype = DType::kInt4;
  out.offset *= 8;
  out.shape[out.rank() - 1] *= 8;
  for (size_t i = 0; i + 1 < out.rank(); ++i) out.strides[i] *= 8;
  return out;
}

void dequantise(const Matrix& weight, int64_t col, const Tensor& scale, const Tensor& offset, float* to) {
  read_weight(weight, to);
  const int64_t parts = scale.shape[0], depth = weight.rows / parts;
  const Scratch<float> factor(weight.cols), move(weight.cols);
  for (int64_t p = 0; p < parts; ++p) {
    read_row(scale, p, col, weight.cols, 1, factor);
    read_row(offset, p, col, weight.cols, 0, move);
    const int64_t begin = p * depth, end = p + 1 == parts ? weight.rows : begin + depth;
    if (weight.by_columns()) {
      for (int64_t c = 0; c < weight.cols; ++c) {
        float* line = to + c * weight.rows;
        for (int64_t r = begin; r < end; ++r) line[r] = (line[r] + move[c]) * factor[c];
      }
      continue;
    }
    for (int64_t r = begin; r < end; ++r) {
      float* line = to + r * weight.cols;
      for (int64_t c = 0; c < weight.cols; ++c) line[c] = (line[c] + move[c]) * factor[c];
    }
  }
}

void activate(int64_t type, float* x, int64_t count) {
  // All but relu are x times a sigmoid of something.
  const auto gate = [&](auto&& argument) {
    for (int64_t i = 0; i < count; ++i) x[i] = x[i] / (1 + std::exp(-argument(x[i])));
  };
  if (type == 1) {
    for (int64_t i = 0; i < count; ++i) x[i] = std::max(x[i], 0.0f);
  } else if (type == 2) {
    constexpr float kTwoRootsOfTwoByPi = 1.5957691216057308f;
    gate([](float v) { return kTwoRootsOfTwoByPi * (v + 0.044715f * v * v * v); });
  } else if (type == 4) {
    gate([](float v) { return 1.702f * v; });
  } else if (type == 5) {
    gate([](float v) { return v; });
  }
}

}  // namespace npu::ops
