// SPDX-License-Identifier: Apache-2.0
// Matrix products on row-major memory: C = alpha * op(A) op(B) + beta * C. This is what operators, convolution,
// attention and recurrent layers call; operators/views with other strides or dtypes go through ops/matmul/product.h.
#pragma once

#include <cstdint>

#include "ops/cube/gemm_args.h"

namespace npu::ops::cube {

/// Computes in the calling thread only; callable inside a part of the thread pool. T is float, double, int64_t (wraps),
/// Complex64 or Complex128. Never throws for sizes that fit in memory.
template <class T>
void gemm_serial(const GemmArgs<T>& args);

/// Computes on the thread pool. Result bits depend on the sizes only, not on the number of threads.
template <class T>
void gemm(const GemmArgs<T>& args);

/// Into how many parts products are cut at most. Not the number of threads: the cut decides bits where k is sliced, and
/// which kernel computes a tile.
inline constexpr int64_t kProductParts = 16;

/// How each of `items` products is cut into parts. A function of the numbers given only.
struct Tiling {
  int64_t rows = 0;  ///< of a tile of C
  int64_t cols = 0;
  int64_t depth = 0;  ///< of a slice of k; below k the partial sums of all slices are added in order
  int64_t row_tiles = 0;
  int64_t col_tiles = 0;
  int64_t slices = 0;
  int64_t tiles() const { return row_tiles * col_tiles; }
};
Tiling plan_tiles(int64_t m, int64_t n, int64_t k, int64_t items = 1, int64_t parts = kProductParts);
/// The same for the kernels of panel_product.h; tiles begin at a multiple of kPanel columns.
Tiling plan_panels(int64_t m, int64_t n, int64_t k, int64_t items, int64_t parts = kProductParts);

/// Part `index` of a Tiling: C[row, row + rows) x [col, col + cols), k in [begin, begin + depth).
struct Tile {
  int64_t row, rows, col, cols, begin, depth;
};
Tile tile_at(const Tiling& tiling, int64_t m, int64_t n, int64_t k, int64_t tile, int64_t slice);

/// `args` reduced to one tile: pointers moved, sizes cut; C stays as it is.
template <class T>
GemmArgs<T> cut(const GemmArgs<T>& args, const Tile& tile) {
  GemmArgs<T> part = args;
  part.m = tile.rows;
  part.n = tile.cols;
  part.k = tile.depth;
  part.a += args.trans_a ? tile.begin * args.lda + tile.row : tile.row * args.lda + tile.begin;
  part.b += args.trans_b ? tile.col * args.ldb + tile.begin : tile.begin * args.ldb + tile.col;
  return part;
}

}  // namespace npu::ops::cube
