// SPDX-License-Identifier: Apache-2.0
// AVX512-BF16, which Highway has no words for. A panel of A holds up to 14 rows, one of B 32 columns; both hold pairs
// of k side by side, as the instruction reads them: it adds two products to each of 16 sums. Up to 14 x 2 vectors of
// sums stay in registers while k runs; each step loads two vectors of B and spreads a pair of A per row, so that the
// dot products, not the loads, set the pace.
#include <array>
#include <utility>

#include "ops/cube/dots.h"
#include "ops/cube/words_x86-inl.h"
#include "ops/scratch.h"

namespace npu::ops::cube {

bool has_dots() { return has_panels(DType::kBFloat16); }

namespace {

constexpr int64_t kDepth = 512;         // pairs of k at a time: a panel of A stays in the first-level cache,
constexpr int64_t kWidth = 8;           // and this many panels of B in the second
constexpr int64_t kHeight = 8 * kRows;  // with so many rows of A

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma")

// c[r][16 w…] (+)= the dot products of R rows with W vectors of columns; `last` lanes of the last vector are written.
template <int R, int W>
void micro(int64_t count, const void* left, const void* right, float* c, int64_t ldc, __mmask16 last, bool add) {
  const auto* a = static_cast<const Word*>(left);
  const auto* b = static_cast<const Word*>(right);
  __m512 sum[R][W];
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) {
      const __mmask16 mask = !add ? __mmask16{0} : w == W - 1 ? last : __mmask16{0xffff};
      sum[r][w] = _mm512_maskz_loadu_ps(mask, c + r * ldc + w * kLanes);
    }
  }
  for (int64_t p = 0; p < count; ++p, a += R, b += kPanel) {
    __m512i column[W];
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) column[w] = _mm512_loadu_si512(b + w * kLanes);
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      const __m512i row = _mm512_set1_epi32(static_cast<int>(a[r]));
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) sum[r][w] = Pairs::add(sum[r][w], row, column[w]);
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w)
      _mm512_mask_storeu_ps(c + r * ldc + w * kLanes, w == W - 1 ? last : __mmask16{0xffff}, sum[r][w]);
  }
}

#pragma GCC pop_options

using Micro = void (*)(int64_t, const void*, const void*, float*, int64_t, __mmask16, bool);

template <int... kR>
constexpr std::array<std::array<Micro, 2>, kRows> micros(std::integer_sequence<int, kR...>) {
  return {{{&micro<kR + 1, 1>, &micro<kR + 1, 2>}...}};
}
constexpr auto kMicros = micros(std::make_integer_sequence<int, kRows>());

// A[row…, 2 * first…] in panels: the pairs of one k of all rows of a panel side by side.
void order_left(const GemmArgs<BFloat16>& g, int64_t row, int64_t height, int64_t first, int64_t depth, Word* to) {
  const int64_t panels = divide_up(height, kRows), k = std::min(2 * depth, g.k - 2 * first);
  for (int64_t i = 0; i < panels; ++i) {
    const Cut panel = cut_of(height, panels, i);
    const int64_t r = row + panel.begin;
    // Panels are written in their order, as the last vectors of one reach into the next.
    Word* at = to + panel.begin * depth;
    if (g.trans_a)
      interleave<Pairs>(g.a + 2 * first * g.lda + r, g.lda, panel.count, k, at, panel.count);
    else
      turn<Pairs>(g.a + r * g.lda + 2 * first, g.lda, panel.count, k, at, panel.count);
  }
}

}  // namespace

void dots_order_right(const GemmArgs<BFloat16>& g, bool parallel, BFloat16* to) {
  order_right({DType::kBFloat16, g.b, g.ldb, g.trans_b, g.k, g.n}, panel_words(DType::kBFloat16, g.k), parallel, to);
}

void dots_multiply(const GemmArgs<BFloat16>& g, const BFloat16* right, int64_t depth, float* c) {
  const Scratch<BFloat16> own(right == nullptr ? dots_right_size(g.k, g.n) : 0);
  if (right == nullptr) {
    dots_order_right(g, false, own.data());
    right = own.data(), depth = g.k;
  }
  const int64_t stride = panel_words(DType::kBFloat16, depth), count = divide_up(g.k, 2),
                panels = divide_up(g.n, kPanel);
  const Scratch<uint32_t> left(std::min(g.m, kHeight) * std::min(count, kDepth) + kLanes);
  const auto* words = reinterpret_cast<const Word*>(right);
  for (int64_t i = 0; i < g.m; i += kHeight) {
    const int64_t height = std::min(kHeight, g.m - i), row_panels = divide_up(height, kRows);
    for (int64_t p = 0; p < count; p += kDepth) {
      const int64_t part = std::min(kDepth, count - p);
      order_left(g, i, height, p, part, left.data());
      for (int64_t block = 0; block < panels; block += kWidth) {
        for (int64_t r = 0; r < row_panels; ++r) {
          const Cut rows = cut_of(height, row_panels, r);
          for (int64_t j = block; j < std::min(panels, block + kWidth); ++j) {
            const int64_t columns = std::min(kPanel, g.n - j * kPanel);
            const __mmask16 last = first16(columns > kLanes ? columns - kLanes : columns);
            kMicros[static_cast<size_t>(rows.count - 1)][columns > kLanes](
                part, left + rows.begin * part, words + j * stride + p * kPanel,
                c + (i + rows.begin) * g.n + j * kPanel, g.n, last, p > 0);
          }
        }
      }
    }
  }
}

}  // namespace npu::ops::cube
