// SPDX-License-Identifier: Apache-2.0
// Many products at once, some of a single row: the tiles of all of them are one pool of parts, so that an expert with
// few tokens leaves no thread idle. Sums are float32, or exact whole numbers; who asks rounds and stores each tile.
#pragma once

#include <functional>
#include <vector>

#include "base/tensor.h"
#include "ops/cube/gemm.h"

namespace npu::ops {

/// A matrix somewhere in memory; strides count elements, of which two share a byte in int4.
struct Matrix {
  std::byte* data = nullptr;
  int64_t first = 0;  ///< element, from `data`
  DType dtype = DType::kFloat;
  int64_t rows = 0, cols = 0;
  int64_t row = 0, col = 1;  ///< strides

  /// Of a tensor of rank 2.
  static Matrix of(const Tensor& t);
  Matrix part(int64_t from_row, int64_t row_count, int64_t from_col, int64_t col_count) const;
  bool by_columns() const { return row == 1 && col != 1; }
  std::byte* at(int64_t r, int64_t c) const;
};

/// The numbers of a matrix, of a dtype that float32 holds, in the order in which they are stored.
void read(const Matrix& from, float* to);
/// Rounds rows x cols float32 numbers, side by side, into a matrix of that size.
void write(const float* from, const Matrix& to);

class GroupedProduct {
 public:
  struct Item {
    Matrix a, b, out;
    int64_t group = -1;  ///< -1: rows that belong to none
    int64_t source = 0;  ///< which left operand, and from which of its rows on, for numbers that go by rows
    int64_t row = 0;
  };
  /// Writes the tile `b` of an item's right operand in the order of its storage, where read() does not do.
  using Unpack = std::function<void(const Item&, const Matrix& b, int64_t col, float* to)>;
  /// Takes a finished tile, rows x cols numbers side by side.
  using Finish = std::function<void(const Item&, const cube::Tile&, float* c)>;
  using FinishWhole = std::function<void(const Item&, const cube::Tile&, const int32_t* c)>;

  std::vector<Item> items;
  Unpack unpack;
  Finish finish;             ///< sums in float32
  FinishWhole finish_whole;  ///< int8 operands, sums exact in int32

  void run() const;

 private:
  void run_tile(const Item& item, const cube::Tile& tile) const;
};

}  // namespace npu::ops
