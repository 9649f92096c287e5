// SPDX-License-Identifier: Apache-2.0
// Both kernels hold a block of C in registers while k runs: each step loads two vectors of B and spreads one element of
// A per row, so that the multiply-add units, not the loads, set the pace. The small kernel reads its operands where
// they lie; the packed one first copies them into panels that are read in order and stay in cache.
// Each element of C is summed in the order of k wherever in a block it lies: a row computed by the kernel of 12 rows
// has the same bits as one of the rest.
#include "ops/cube/kernel.h"

#include <algorithm>

#include "ops/scratch.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cube/kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::cube::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of C held in registers: with two vectors a row, 12 x 2 of 32 registers with AVX-512 and NEON, 6 x 2 of 16 else.
constexpr int kRows = (HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON) ? 12 : 6;
// Masked loads and stores of these targets never touch memory outside the mask; others go through a buffer.
constexpr bool kSafeMasks = HWY_TARGET <= HWY_AVX2;

// Element (r, c) at data[r * row + c * col].
template <class T>
struct Strided {
  const T* data;
  int64_t row;
  int64_t col;
};

template <class T>
// Where a block of C goes, and what becomes of what lies there.
struct Target {
  T* c;
  int64_t ldc;
  T alpha;
  T beta;
};

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::VFromD<D> load_first(D d, const T* from, int64_t count) {
  if constexpr (kSafeMasks) return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, from);
  HWY_ALIGN T buffer[hn::MaxLanes(D())] = {};
  for (int64_t i = 0; i < count; ++i) buffer[i] = from[i];
  return hn::Load(d, buffer);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_first(D d, hn::VFromD<D> v, T* to, int64_t count) {
  if constexpr (kSafeMasks) {
    hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, to);
  } else {
    HWY_ALIGN T buffer[hn::MaxLanes(D())];
    hn::Store(v, d, buffer);
    for (int64_t i = 0; i < count; ++i) to[i] = buffer[i];
  }
}

// alpha * acc + beta * C for one vector of C, `count` of its lanes.
template <bool kPartial, class D, class T = hn::TFromD<D>>
HWY_INLINE void finish(D d, hn::VFromD<D> acc, const Target<T>& out, T* at, int64_t count) {
  auto v = hn::Mul(acc, hn::Set(d, out.alpha));
  // beta 0 never reads C, whose memory may be fresh.
  if (out.beta != T(0)) {
    hn::VFromD<D> old;
    if constexpr (kPartial)
      old = load_first(d, at, count);
    else
      old = hn::LoadU(d, at);
    v = hn::MulAdd(old, hn::Set(d, out.beta), v);
  }
  if constexpr (kPartial)
    store_first(d, v, at, count);
  else
    hn::StoreU(v, d, at);
}

// R rows by W vectors of C. With kPartial the last vector has `last` lanes, in B too unless B is padded.
template <int R, int W, bool kPartial, bool kPadded, class T>
HWY_NOINLINE void micro(int64_t k, Strided<T> a, const T* b, int64_t ldb, Target<T> out, int64_t last) {
  const hn::ScalableTag<T> d;
  using V = hn::VFromD<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V acc[R][W];
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) acc[r][w] = hn::Zero(d);
  }
  for (int64_t p = 0; p < k; ++p, b += ldb, a.data += a.col) {
    V row[W];
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) {
      if constexpr (kPartial && !kPadded)
        row[w] = w == W - 1 ? load_first(d, b + w * lanes, last) : hn::LoadU(d, b + w * lanes);
      else
        row[w] = hn::LoadU(d, b + w * lanes);
    }
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      const V x = hn::Set(d, a.data[r * a.row]);
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) acc[r][w] = hn::MulAdd(x, row[w], acc[r][w]);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) {
      T* at = out.c + r * out.ldc + w * lanes;
      if (kPartial && w == W - 1)
        finish<true>(d, acc[r][w], out, at, last);
      else
        finish<false>(d, acc[r][w], out, at, lanes);
    }
  }
}

// One column block of W vectors, all rows.
template <int W, bool kPartial, bool kPadded, class T>
HWY_INLINE void column_block(int64_t m, int64_t k, Strided<T> a, const T* b, int64_t ldb, Target<T> out, int64_t last) {
  int64_t i = 0;
  const auto run = [&]<int R>() {
    for (; i + R <= m; i += R) {
      const Strided<T> at{a.data + i * a.row, a.row, a.col};
      micro<R, W, kPartial, kPadded>(k, at, b, ldb, Target<T>{out.c + i * out.ldc, out.ldc, out.alpha, out.beta}, last);
    }
  };
  // The rest of fewer than kRows rows goes by fours, then one by one: three heights are built, not one for every
  // remainder.
  run.template operator()<kRows>();
  run.template operator()<4>();
  run.template operator()<1>();
}

template <class T>
// A is read element by element, so that a transposed one costs nothing but strides.
Strided<T> left(const GemmArgs<T>& g) {
  return {g.a, g.trans_a ? 1 : g.lda, g.trans_a ? g.lda : 1};
}

template <class T>
// Columns outside, rows inside: the k x 2 vectors of B that a block of columns needs are read again for every block of
// rows, from the first-level cache.
void small(const GemmArgs<T>& g) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const Strided<T> a = left(g);
  for (int64_t j = 0; j < g.n; j += 2 * lanes) {
    const int64_t cols = g.n - j;
    const T* b = g.b + j;
    const Target<T> out{g.c + j, g.ldc, g.alpha, g.beta};
    if (cols >= 2 * lanes)
      column_block<2, false, false>(g.m, g.k, a, b, g.ldb, out, lanes);
    else if (cols > lanes)
      column_block<2, true, false>(g.m, g.k, a, b, g.ldb, out, cols - lanes);
    else if (cols == lanes)
      column_block<1, false, false>(g.m, g.k, a, b, g.ldb, out, lanes);
    else
      column_block<1, true, false>(g.m, g.k, a, b, g.ldb, out, cols);
  }
}

// Terms that are summed in T before they enter the double sum: with 16 lanes and two chains 32 of them follow each
// other in one lane. Also what strided operands are gathered into, small enough for the first-level cache.
constexpr int64_t kDotBlock = 1024;

template <class T>
T dot_block(const T* a, const T* b, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d), odd = hn::Zero(d);  // two chains hide some of the latency
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
    odd = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), odd);
  }
  for (; i < count; i += lanes) {
    const int64_t rest = std::min(lanes, count - i);
    even = hn::MulAdd(load_first(d, a + i, rest), load_first(d, b + i, rest), even);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

template <class T>
void dot(const GemmArgs<T>& g) {
  const int64_t a_step = g.trans_a ? g.lda : 1, b_step = g.trans_b ? 1 : g.ldb;
  const Scratch<T> a(a_step == 1 ? 0 : kDotBlock), b(b_step == 1 ? 0 : kDotBlock);
  const auto dense = [](const T* from, int64_t step, int64_t count, T* to) {
    if (step == 1) return from;
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
    return static_cast<const T*>(to);
  };
  double sum = 0;
  for (int64_t p = 0; p < g.k; p += kDotBlock) {
    const int64_t count = std::min(kDotBlock, g.k - p);
    sum += dot_block(dense(g.a + p * a_step, a_step, count, a.data()), dense(g.b + p * b_step, b_step, count, b.data()),
                     count);
  }
  const double old = g.beta == T(0) ? 0 : static_cast<double>(g.beta) * static_cast<double>(*g.c);
  *g.c = static_cast<T>(static_cast<double>(g.alpha) * sum + old);
}

// Sizes of the packed loops, in elements: a slice of B (depth x width) stays in the second-level cache, a panel of A
// (kRows x depth) in the first.
constexpr int64_t kDepth = 256;
// A multiple of both 12 and 6, so that only the last panel of A is short.
constexpr int64_t kHeight = 96;
constexpr int64_t kWidth = 256;

// B[p0.., j0..] as panels of two vectors, zero-padded at the right edge.
template <class T>
void pack_right(const GemmArgs<T>& g, int64_t p0, int64_t depth, int64_t j0, int64_t width, T* to) {
  const int64_t panel = 2 * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t row = g.trans_b ? 1 : g.ldb;
  const int64_t col = g.trans_b ? g.ldb : 1;
  for (int64_t j = 0; j < width; j += panel) {
    const T* from = g.b + p0 * row + (j0 + j) * col;
    const int64_t cols = std::min(panel, width - j);
    for (int64_t p = 0; p < depth; ++p, from += row, to += panel) {
      if (col == 1)
        std::copy_n(from, cols, to);
      else
        for (int64_t c = 0; c < cols; ++c) to[c] = from[c * col];
      // The zeros spare the kernel masked loads of B; what they compute is cut off when C is stored.
      std::fill(to + cols, to + panel, T(0));
    }
  }
}

// A[i0.., p0..] as panels of kRows rows, element (r, p) of a panel at [p * kRows + r]; the last panel may be shorter.
template <class T>
void pack_left(Strided<T> a, int64_t i0, int64_t height, int64_t p0, int64_t depth, T* to) {
  for (int64_t i = 0; i < height; i += kRows, to += kRows * depth) {
    const int64_t rows = std::min<int64_t>(kRows, height - i);
    for (int64_t r = 0; r < rows; ++r) {
      const T* from = a.data + (i0 + i + r) * a.row + p0 * a.col;
      for (int64_t p = 0; p < depth; ++p) to[p * kRows + r] = from[p * a.col];
    }
  }
}

template <class T>
// A slice of B is packed once and serves all rows; A is packed anew for each kWidth columns, which costs one copy of an
// element for 256 multiplications with it.
void packed(const GemmArgs<T>& g) {
  const int64_t panel = 2 * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const Scratch<T> right(kDepth * (kWidth + panel));
  const Scratch<T> rows((kHeight + kRows) * kDepth);
  const Strided<T> a = left(g);
  for (int64_t j = 0; j < g.n; j += kWidth) {
    const int64_t width = std::min(kWidth, g.n - j);
    for (int64_t p = 0; p < g.k; p += kDepth) {
      const int64_t depth = std::min(kDepth, g.k - p);
      pack_right(g, p, depth, j, width, right.data());
      for (int64_t i = 0; i < g.m; i += kHeight) {
        const int64_t height = std::min(kHeight, g.m - i);
        pack_left(a, i, height, p, depth, rows.data());
        for (int64_t jj = 0; jj < width; jj += panel) {
          const int64_t cols = std::min(panel, width - jj);
          const T* b = right + jj * depth;
          for (int64_t ii = 0; ii < height; ii += kRows) {
            // The first slice of k applies beta; later ones add to what it left.
            const Target<T> out{g.c + (i + ii) * g.ldc + j + jj, g.ldc, g.alpha, p == 0 ? g.beta : T(1)};
            const Strided<T> at{rows + ii * depth, 1, kRows};
            const int64_t tall = std::min<int64_t>(kRows, height - ii);
            if (cols == panel)
              column_block<2, false, true>(tall, depth, at, b, panel, out, panel / 2);
            else if (cols > panel / 2)
              column_block<2, true, true>(tall, depth, at, b, panel, out, cols - panel / 2);
            else
              column_block<1, true, true>(tall, depth, at, b, panel, out, cols);
          }
        }
      }
    }
  }
}

// One name an instance: HWY_EXPORT takes neither templates nor overloads.
void small_float(const GemmArgs<float>& g) { small(g); }
void small_double(const GemmArgs<double>& g) { small(g); }
void dot_float(const GemmArgs<float>& g) { dot(g); }
void dot_double(const GemmArgs<double>& g) { dot(g); }
void packed_float(const GemmArgs<float>& g) { packed(g); }
void packed_double(const GemmArgs<double>& g) { packed(g); }

}  // namespace npu::ops::cube::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops::cube {

HWY_EXPORT(small_float);
HWY_EXPORT(small_double);
HWY_EXPORT(dot_float);
HWY_EXPORT(dot_double);
HWY_EXPORT(packed_float);
HWY_EXPORT(packed_double);

void kernel_small(const GemmArgs<float>& args) { HWY_DYNAMIC_DISPATCH(small_float)(args); }
void kernel_small(const GemmArgs<double>& args) { HWY_DYNAMIC_DISPATCH(small_double)(args); }
void kernel_dot(const GemmArgs<float>& args) { HWY_DYNAMIC_DISPATCH(dot_float)(args); }
void kernel_dot(const GemmArgs<double>& args) { HWY_DYNAMIC_DISPATCH(dot_double)(args); }
void kernel_packed(const GemmArgs<float>& args) { HWY_DYNAMIC_DISPATCH(packed_float)(args); }
void kernel_packed(const GemmArgs<double>& args) { HWY_DYNAMIC_DISPATCH(packed_double)(args); }

}  // namespace npu::ops::cube
#endif
