// SPDX-License-Identifier: Apache-2.0
// B is read forwards, in the order of memory, whatever that order is:
// - by rows, C is updated with a few rows of B at a time (a sum of outer products); C stays in the first-level cache;
// - by columns, each element of C is a dot product, of several columns at once so that chains of additions overlap.
// Cost: k * n numbers of B are loaded and widened once, for all rows.
#include "ops/cube/few_rows.h"

#include <algorithm>

#include "base/half.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cube/few_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::cube::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::VFromD<Floats>;

HWY_INLINE Vector widen(const Half* from) {
  const hn::Rebind<hwy::float16_t, Floats> narrow;
  return hn::PromoteTo(Floats(), hn::LoadU(narrow, reinterpret_cast<const hwy::float16_t*>(from)));
}
HWY_INLINE Vector widen(const BFloat16* from) {
  const hn::Rebind<hwy::bfloat16_t, Floats> narrow;
  return hn::PromoteTo(Floats(), hn::LoadU(narrow, reinterpret_cast<const hwy::bfloat16_t*>(from)));
}

/// Part of B: k lines (by columns: n lines) `ld` numbers apart.
template <class E>
struct Lines {
  const E* b;
  int64_t ld, k, n;
};
/// A as far as the part goes, and the columns of C that it adds to.
struct Sums {
  const float* a;
  int64_t lda;
  float* c;
  int64_t ldc;
};

// c += A B with S rows of B.
template <int M, int S, class E>
HWY_INLINE void add_rows(const Lines<E>& l, const Sums& s) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= l.n; j += lanes) {
    Vector row[S];
#pragma GCC unroll 4
    for (int p = 0; p < S; ++p) row[p] = widen(l.b + p * l.ld + j);
#pragma GCC unroll 8
    for (int r = 0; r < M; ++r) {
      Vector sum = hn::LoadU(d, s.c + r * s.ldc + j);
#pragma GCC unroll 4
      for (int p = 0; p < S; ++p) sum = hn::MulAdd(hn::Set(d, s.a[r * s.lda + p]), row[p], sum);
      hn::StoreU(sum, d, s.c + r * s.ldc + j);
    }
  }
  for (; j < l.n; ++j) {
    for (int r = 0; r < M; ++r) {
      for (int p = 0; p < S; ++p) s.c[r * s.ldc + j] += s.a[r * s.lda + p] * static_cast<float>(l.b[p * l.ld + j]);
    }
  }
}

template <int M, class E>
void by_rows(Lines<E> l, Sums s) {
  constexpr int kStep = 4;
  for (; l.k >= kStep; l.k -= kStep, l.b += kStep * l.ld, s.a += kStep) add_rows<M, kStep>(l, s);
  for (; l.k > 0; --l.k, l.b += l.ld, ++s.a) add_rows<M, 1>(l, s);
}

// c += A B with C columns of B.
template <int M, int C, class E>
HWY_INLINE void add_columns(const Lines<E>& l, const Sums& s) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  Vector sum[M][C];
#pragma GCC unroll 8
  for (int r = 0; r < M; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < C; ++j) sum[r][j] = hn::Zero(d);
  }
  int64_t p = 0;
  for (; p + lanes <= l.k; p += lanes) {
    Vector column[C];
#pragma GCC unroll 8
    for (int j = 0; j < C; ++j) column[j] = widen(l.b + j * l.ld + p);
#pragma GCC unroll 8
    for (int r = 0; r < M; ++r) {
      const Vector row = hn::LoadU(d, s.a + r * s.lda + p);
#pragma GCC unroll 8
      for (int j = 0; j < C; ++j) sum[r][j] = hn::MulAdd(row, column[j], sum[r][j]);
    }
  }
  for (int r = 0; r < M; ++r) {
    for (int j = 0; j < C; ++j) {
      float total = hn::GetLane(hn::SumOfLanes(d, sum[r][j]));
      for (int64_t i = p; i < l.k; ++i) total += s.a[r * s.lda + i] * static_cast<float>(l.b[j * l.ld + i]);
      s.c[r * s.ldc + j] += total;
    }
  }
}

template <int M, class E>
void by_columns(Lines<E> l, Sums s) {
  constexpr int kStep = 8 / M;  // 8 chains of additions
  for (; l.n >= kStep; l.n -= kStep, l.b += kStep * l.ld, s.c += kStep) add_columns<M, kStep>(l, s);
  if constexpr (kStep > 1) {
    for (; l.n > 0; --l.n, l.b += l.ld, ++s.c) add_columns<M, 1>(l, s);
  }
}

template <int M, class E>
void multiply_stored(const FewRows& product) {
  const auto& [b, data, part, rows, a, lda, c] = product;
  std::fill_n(c, M * part.cols, 0.0f);
  // By columns a line of B is a column, and blocks cut the axis of k.
  const int64_t first_line = b.by_columns ? part.col : part.begin, first = b.by_columns ? part.begin : part.col;
  const int64_t numbers = b.by_columns ? part.depth : part.cols, width = b.width == 0 ? numbers : b.width;
  const E* line = static_cast<const E*>(data) + first_line * b.ld + (b.width == 0 ? first : first / b.width * b.step);
  for (int64_t i = 0; i < numbers; i += width, line += b.step) {
    const int64_t count = std::min(width, numbers - i);
    if (b.by_columns)
      by_columns<M>(Lines<E>{line, b.ld, count, part.cols}, {a + i, lda, c, part.cols});
    else
      by_rows<M>(Lines<E>{line, b.ld, part.depth, count}, {a, lda, c + i, part.cols});
  }
}

template <class E>
void multiply_rows(const FewRows& product) {
  switch (product.rows) {
    case 1: return multiply_stored<1, E>(product);
    case 2: return multiply_stored<2, E>(product);
    case 4: return multiply_stored<4, E>(product);
    default: return multiply_stored<8, E>(product);
  }
}

void multiply_few_rows(const FewRows& product) {
  product.b.dtype == DType::kHalf ? multiply_rows<Half>(product) : multiply_rows<BFloat16>(product);
}

}  // namespace npu::ops::cube::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops::cube {

HWY_EXPORT(multiply_few_rows);

int64_t padded_rows(int64_t m) { return m <= 2 ? m : m <= 4 ? 4 : kMostFewRows; }

void few_rows_product(const FewRows& product) { HWY_DYNAMIC_DISPATCH(multiply_few_rows)(product); }

}  // namespace npu::ops::cube
#endif
