// SPDX-License-Identifier: Apache-2.0
// A product is cut into tiles by its sizes alone, and each tile is computed by one thread in the engine that is fastest
// for its size: the house's kernels where a call into oneDNN costs more than the arithmetic, dnnl_sgemm above. oneDNN
// multiplies neither doubles nor 64-bit integers nor complex numbers on a CPU: those are the house's at every size.
#include "ops/cube/gemm.h"

#include <algorithm>
#include <complex>

#include "base/division.h"
#include "base/thread_pool.h"
#include "ops/cube/kernel.h"
#include "ops/cube/onednn.h"
#include "ops/cube/panels.h"
#include "ops/scratch.h"
#include "ops/vector/elementwise/transpose.h"

namespace npu::ops::cube {
namespace {

// Up to here the call into oneDNN costs more than its kernel wins (multiply-adds).
constexpr int64_t kSmallProduct = int64_t{32} * 32 * 32;
// Up to here the two are level.
constexpr int64_t kMediumProduct = int64_t{1} << 20;
constexpr int64_t kMediumRight = int64_t{1} << 15;  // elements of B: half of the second-level cache
// A part of less work than this does not pay for waking a thread.
constexpr int64_t kPartWork = int64_t{1} << 20;

// Even parts of at most `limit`, a multiple of `step` each: no thin tile is left at the edge.
int64_t even_part(int64_t size, int64_t limit, int64_t step) {
  return size <= limit ? size : round_up(divide_up(size, divide_up(size, limit)), step);
}

// Integers wrap: products are formed without a sign, where overflow is defined.
template <class T>
T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}
template <class R>
// std::complex's own operator looks for NaN in every product, to restore infinities. Products of matrices go without,
// as in BLAS.
std::complex<R> multiply(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T>
// beta 0 writes zeros whatever C holds: it may be fresh memory, and 0 * NaN would stay NaN.
void scale(const GemmArgs<T>& g) {
  for (int64_t i = 0; i < g.m; ++i) {
    T* row = g.c + i * g.ldc;
    for (int64_t j = 0; j < g.n; ++j) row[j] = g.beta == T(0) ? T(0) : multiply(row[j], g.beta);
  }
}

// The plain product, row by row of C.
template <class T>
void plain(const GemmArgs<T>& g) {
  const int64_t b_row = g.trans_b ? 1 : g.ldb;
  const int64_t b_col = g.trans_b ? g.ldb : 1;
  // Beside C, not in it: alpha multiplies the finished sum, and the old C is still needed for beta.
  const Scratch<T> sums(g.n);
  for (int64_t i = 0; i < g.m; ++i) {
    std::fill_n(sums.data(), g.n, T(0));
    for (int64_t p = 0; p < g.k; ++p) {
      const T x = g.a[g.trans_a ? p * g.lda + i : i * g.lda + p];
      const T* row = g.b + p * b_row;
      for (int64_t j = 0; j < g.n; ++j) sums[j] += multiply(x, row[j * b_col]);
    }
    T* c = g.c + i * g.ldc;
    for (int64_t j = 0; j < g.n; ++j) {
      const T old = g.beta == T(0) ? T(0) : multiply(g.beta, c[j]);
      c[j] = multiply(g.alpha, sums[j]) + old;
    }
  }
}

// B stored by columns is turned first, so that the small kernel can read it.
void product_turned(const GemmArgs<float>& g) {
  const Scratch<float> turned(g.k * g.n);
  transpose(g.b, g.ldb, g.n, g.k, sizeof(float), turned, g.n);
  GemmArgs<float> part = g;
  part.trans_b = false, part.b = turned, part.ldb = g.n;
  kernel_small(part);
}

void product(const GemmArgs<float>& g) {
  const int64_t work = g.m * g.n * g.k;
  // Up to kMediumProduct oneDNN is as fast, but allocates; turning B must pay for many rows.
  if (g.m == 1 && g.n == 1)
    kernel_dot(g);
  else if (!g.trans_b && (work <= kSmallProduct || (work <= kMediumProduct && g.n >= 16 && g.k * g.n <= kMediumRight)))
    kernel_small(g);
  else if (g.trans_b && work <= kMediumProduct && g.m >= 16 && g.n >= 16 && g.k * g.n <= kMediumRight)
    product_turned(g);
  else
    onednn_sgemm(g);
}

// A transposed B goes to the packed kernel even when small: packing turns it on the way.
void product(const GemmArgs<double>& g) {
  if (g.m == 1 && g.n == 1)
    kernel_dot(g);
  else if (!g.trans_b && g.m * g.n * g.k <= kSmallProduct)
    kernel_small(g);
  else
    kernel_packed(g);
}

void product(const GemmArgs<int64_t>& g) {
  GemmArgs<uint64_t> u{g.trans_a, g.trans_b, g.m, g.n, g.k};
  u.alpha = static_cast<uint64_t>(g.alpha);
  u.beta = static_cast<uint64_t>(g.beta);
  u.a = reinterpret_cast<const uint64_t*>(g.a);
  u.b = reinterpret_cast<const uint64_t*>(g.b);
  u.c = reinterpret_cast<uint64_t*>(g.c);
  u.lda = g.lda, u.ldb = g.ldb, u.ldc = g.ldc;
  plain(u);
}

template <class R>
void product(const GemmArgs<std::complex<R>>& g) {
  plain(g);
}

// C = beta * C + the sum of `slices` partial results, in order.
template <class T>
// alpha is in the partial results already, beta is applied here, once.
void add_slices(const GemmArgs<T>& g, const Tile& tile, const T* partial, int64_t slices) {
  const int64_t size = tile.rows * tile.cols;
  for (int64_t i = 0; i < tile.rows; ++i) {
    T* c = g.c + (tile.row + i) * g.ldc + tile.col;
    const T* from = partial + i * tile.cols;
    for (int64_t j = 0; j < tile.cols; ++j) {
      T sum = from[j];
      for (int64_t s = 1; s < slices; ++s) sum += from[s * size + j];
      c[j] = g.beta == T(0) ? sum : g.beta * c[j] + sum;
    }
  }
}

template <class T>
// Every slice of k writes partial results of its own, which are added by index afterwards: the sum does not depend on
// which slice is ready first, nor on how many run at once.
void gemm_sliced(const GemmArgs<T>& g, const Tiling& tiling) {
  const int64_t tile_size = tiling.rows * tiling.cols;
  const Scratch<T> partial(tiling.tiles() * tiling.slices * tile_size);
  parallel_parts(tiling.tiles() * tiling.slices, [&](int64_t index) {
    const Tile tile = tile_at(tiling, g.m, g.n, g.k, index / tiling.slices, index % tiling.slices);
    GemmArgs<T> part = cut(g, tile);
    // Each tile has the room of a whole one, in which the slices of a smaller tile at the edge lie side by side.
    const int64_t first = index / tiling.slices * tiling.slices * tile_size;
    part.c = partial + first + index % tiling.slices * tile.rows * tile.cols;
    part.ldc = tile.cols;
    part.beta = T(0);
    gemm_serial(part);
  });
  parallel_parts(tiling.tiles(), [&](int64_t index) {
    const Tile tile = tile_at(tiling, g.m, g.n, g.k, index, 0);
    add_slices(g, tile, partial + index * tiling.slices * tile_size, tiling.slices);
  });
}

// Counts the tiles of a Tiling whose rows and columns are known.
Tiling counted(Tiling t, int64_t m, int64_t n, int64_t k) {
  t.row_tiles = divide_up(m, std::max<int64_t>(t.rows, 1));
  t.col_tiles = divide_up(n, std::max<int64_t>(t.cols, 1));
  // Few tiles and a long k, as in gradients of weights: only k is left to share out. At most 8 slices of 1024 terms or
  // more, so that adding the partial results is little beside making them.
  if (t.tiles() < 4 && k >= 2048 && m * n * k >= 4 * kPartWork)
    t.depth = std::max<int64_t>(1024, round_up(divide_up(k, 8), 64));
  t.slices = std::max<int64_t>(1, divide_up(k, std::max<int64_t>(t.depth, 1)));
  return t;
}

}  // namespace

Tiling plan_tiles(int64_t m, int64_t n, int64_t k, int64_t items, int64_t parts) {
  Tiling t;
  t.rows = m, t.cols = n, t.depth = k;
  const int64_t work = m * n * k;
  if (work >= 2 * kPartWork) {
    // Multiples of the engine's register block; about the size from which packing costs nothing.
    t.rows = even_part(m, 256, 16);
    t.cols = even_part(n, 384, 48);
    // More tiles for the threads, but none so small that the engine starves: a deep product is sliced along k below.
    while (divide_up(m, t.rows) * divide_up(n, t.cols) < parts && t.rows * t.cols * k > 16 * kPartWork) {
      if (t.cols > t.rows && t.cols >= 192)
        t.cols = round_up(divide_up(t.cols, 2), 48);
      else if (t.rows >= 128)
        t.rows = round_up(divide_up(t.rows, 2), 16);
      else
        break;
    }
  }
  // Two parts of what would be one: half of it pays, as threads look around for work before they sleep.
  if (items == 1 && t.rows == m && t.cols == n && work >= kPartWork / 2 && k < 2048) {
    if (n > m && n >= 64)
      t.cols = round_up(divide_up(n, 2), 16);
    else if (m >= 32)
      t.rows = round_up(divide_up(m, 2), 16);
  }
  return counted(t, m, n, k);
}

// Many flat tiles: with A in the first-level cache and B in panels, a tile of 28 rows is computed as fast as one of
// 100, and all threads end together.
Tiling plan_panels(int64_t m, int64_t n, int64_t k, int64_t items, int64_t parts) {
  constexpr int64_t kHalfPart = kPartWork / 2;  // multiply-adds that pay for another part
  constexpr int64_t kLeastHeight = 28, kMostHeight = 96, kLeastColumns = 128, kMostColumns = 1024;
  Tiling t;
  t.rows = m, t.cols = n, t.depth = k;
  const int64_t work = m * n * k, wanted = std::clamp<int64_t>(work / kHalfPart, 1, parts);
  if (work > kPartWork || (items == 1 && wanted > 1)) {
    int64_t bands = std::min(wanted, std::max<int64_t>(1, m / kLeastHeight));
    const int64_t groups = std::min(divide_up(wanted, bands), std::max<int64_t>(1, n / kLeastColumns));
    if (bands == parts) bands *= divide_up(m, parts * kMostHeight);
    t.rows = divide_up(m, bands);
    t.cols = std::min(round_up(divide_up(n, groups), kPanel), kMostColumns);
    if (t.cols >= n) t.cols = n;
  }
  return counted(t, m, n, k);
}

Tile tile_at(const Tiling& t, int64_t m, int64_t n, int64_t k, int64_t tile, int64_t slice) {
  Tile at;
  at.row = tile / t.col_tiles * t.rows;
  at.rows = std::min(t.rows, m - at.row);
  at.col = tile % t.col_tiles * t.cols;
  at.cols = std::min(t.cols, n - at.col);
  at.begin = slice * t.depth;
  at.depth = std::min(t.depth, k - at.begin);
  return at;
}

template <class T>
void gemm_serial(const GemmArgs<T>& args) {
  if (args.m == 0 || args.n == 0) return;
  // As in BLAS: A and B are not read then, so a NaN in them does not show.
  if (args.k == 0 || args.alpha == T(0))
    scale(args);
  else
    product(args);
}

template <class T>
void gemm(const GemmArgs<T>& args) {
  const Tiling tiling = plan_tiles(args.m, args.n, args.k);
  if (tiling.slices > 1) return gemm_sliced(args, tiling);
  if (tiling.tiles() <= 1) return gemm_serial(args);
  parallel_parts(tiling.tiles(), [&](int64_t index) {
    const Tile tile = tile_at(tiling, args.m, args.n, args.k, index, 0);
    GemmArgs<T> part = cut(args, tile);
    part.c += tile.row * args.ldc + tile.col;
    gemm_serial(part);
  });
}

#define NPU_GEMM(T)                              \
  template void gemm_serial(const GemmArgs<T>&); \
  template void gemm(const GemmArgs<T>&)
NPU_GEMM(float);
NPU_GEMM(double);
NPU_GEMM(int64_t);
NPU_GEMM(Complex64);
NPU_GEMM(Complex128);
#undef NPU_GEMM

}  // namespace npu::ops::cube
