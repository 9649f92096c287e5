// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/grouped_product.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

// A part of the pool should do at least this many multiply-adds.
constexpr int64_t kPartWork = int64_t{1} << 20;
// That many products of two int8 are at most 2^24 together, which float32 holds exactly in any order of adding.
constexpr int64_t kExactDepth = 1024;

struct Factor {
  const float* data;
  int64_t ld;
  bool transposed;
};

struct Storage {
  int64_t outer, inner, outer_stride, inner_stride;
  explicit Storage(const Matrix& m)
      : outer(m.by_columns() ? m.cols : m.rows),
        inner(m.by_columns() ? m.rows : m.cols),
        outer_stride(m.by_columns() ? m.col : m.row),
        inner_stride(m.by_columns() ? m.row : m.col) {}
};

Factor dense(const Matrix& m, const float* data) {
  return {data, std::max<int64_t>(Storage(m).inner, 1), m.by_columns()};
}

// Where it lies when the kernel can read it there, else copied.
Factor operand_of(const Matrix& m, Scratch<float>& room) {
  const Storage s(m);
  if (m.dtype == DType::kFloat && s.inner_stride == 1 && (s.outer_stride >= s.inner || s.outer <= 1))
    return {reinterpret_cast<const float*>(m.at(0, 0)), std::max({s.outer_stride, s.inner, int64_t{1}}),
            m.by_columns()};
  float* to = room.at_least(m.rows * m.cols);
  read(m, to);
  return dense(m, to);
}

cube::GemmArgs<float> arguments(const Factor& a, const Factor& b, const cube::Tile& tile) {
  cube::GemmArgs<float> g{a.transposed, b.transposed, tile.rows, tile.cols, tile.depth};
  g.a = a.data, g.lda = a.ld;
  g.b = b.data, g.ldb = b.ld;
  g.ldc = tile.cols;
  return g;
}

// Slices of k that are exact in float32 are added as whole numbers.
void multiply_whole(const cube::GemmArgs<float>& whole, int32_t* sums) {
  const int64_t count = whole.m * whole.n;
  const Scratch<float> c(count);
  std::fill_n(sums, count, 0);
  for (int64_t begin = 0; begin < whole.k; begin += kExactDepth) {
    auto slice = cube::cut(whole, {0, whole.m, 0, whole.n, begin, std::min(kExactDepth, whole.k - begin)});
    slice.c = c;
    cube::gemm_serial(slice);
    for (int64_t i = 0; i < count; ++i) sums[i] += static_cast<int32_t>(c[i]);
  }
}

}  // namespace

Matrix Matrix::of(const Tensor& t) {
  return {static_cast<std::byte*>(t.data), t.offset, t.dtype, t.shape[0], t.shape[1], t.strides[0], t.strides[1]};
}

Matrix Matrix::part(int64_t from_row, int64_t row_count, int64_t from_col, int64_t col_count) const {
  Matrix m = *this;
  m.first += from_row * row + from_col * col;
  m.rows = row_count, m.cols = col_count;
  return m;
}

std::byte* Matrix::at(int64_t r, int64_t c) const {
  return data + (first + r * row + c * col) * static_cast<int64_t>(size_of(dtype));
}

void read(const Matrix& from, float* to) {
  const Convert convert = converter(from.dtype, DType::kFloat);
  const Storage s(from);
  const bool columns = from.by_columns();
  for (int64_t i = 0; i < s.outer; ++i)
    convert(columns ? from.at(0, i) : from.at(i, 0), s.inner_stride, to + i * s.inner, 1, s.inner);
}

void write(const float* from, const Matrix& to) {
  const Convert convert = converter(DType::kFloat, to.dtype);
  for (int64_t r = 0; r < to.rows; ++r) convert(from + r * to.cols, 1, to.at(r, 0), to.col, to.cols);
}

void GroupedProduct::run_tile(const Item& item, const cube::Tile& tile) const {
  Scratch<float> room_a, room_b;
  const Matrix b_part = item.b.part(0, tile.depth, tile.col, tile.cols);
  const Factor a = operand_of(item.a.part(tile.row, tile.rows, 0, tile.depth), room_a);
  Factor b{};
  if (unpack) {
    float* to = room_b.at_least(tile.depth * tile.cols);
    unpack(item, b_part, tile.col, to);
    b = dense(b_part, to);
  } else {
    b = operand_of(b_part, room_b);
  }
  auto g = arguments(a, b, tile);
  if (finish_whole) {
    const Scratch<int32_t> sums(tile.rows * tile.cols);
    multiply_whole(g, sums);
    return finish_whole(item, tile, sums);
  }
  const Scratch<float> c(tile.rows * tile.cols);
  g.c = c;
  cube::gemm_serial(g);
  finish(item, tile, c);
}

// How an item is cut depends on its sizes and on how many there are, never on the threads.
void GroupedProduct::run() const {
  struct Part {
    const Item* item;
    cube::Tile tile;
  };
  std::vector<Part> parts;
  int64_t work = 0;
  for (const Item& item : items) {
    const int64_t m = item.a.rows, n = item.b.cols, k = item.a.cols;
    if (m == 0 || n == 0) continue;
    const cube::Tiling tiling = cube::plan_tiles(m, n, k, static_cast<int64_t>(items.size()));
    for (int64_t i = 0; i < tiling.tiles(); ++i) {
      cube::Tile tile = cube::tile_at(tiling, m, n, k, i, 0);
      tile.depth = k;  // not sliced: groups give parts enough
      parts.push_back({&item, tile});
    }
    work += m * n * (k + 1);
  }
  const auto count = static_cast<int64_t>(parts.size());
  const int64_t grain = std::max<int64_t>(1, kPartWork / std::max<int64_t>(1, work / std::max<int64_t>(1, count)));
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Part& part = parts[static_cast<size_t>(i)];
      run_tile(*part.item, part.tile);
    }
  });
}

}  // namespace npu::ops
