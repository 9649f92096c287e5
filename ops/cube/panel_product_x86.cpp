// SPDX-License-Identifier: Apache-2.0
// A panel of A holds up to 14 rows, one of B 32 columns, both as words (panels.h). Up to 14 x 2 vectors of sums stay in
// registers while k runs; each step loads two vectors of B and spreads a word of A per row, so that the
// multiplications, not the loads, set the pace.
#include <array>
#include <type_traits>
#include <utility>

#include "base/division.h"
#include "ops/cube/panel_product.h"
#include "ops/cube/words_x86-inl.h"
#include "ops/scratch.h"

namespace npu::ops::cube {
namespace {

constexpr int64_t kDepth = 192;          // words of k at a time: sums of more lose digits; a panel of A stays in L1,
constexpr int64_t kWidth = 16;           // and this many panels of B in L2
constexpr int64_t kAhead = 12;           // rows of B that are fetched before they are read
constexpr int64_t kHeight = 19 * kRows;  // with so many rows of A

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma")

// R rows by W vectors of columns; `last` lanes of the last vector are written.
template <class Kind, int R, int W>
void micro(int64_t count, const void* left, const void* right, const PanelResult& to, __mmask16 last) {
  const auto* a = static_cast<const Word*>(left);
  const auto* b = static_cast<const Word*>(right);
  __m512 sum[R][W];
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) sum[r][w] = _mm512_setzero_ps();
  }
  for (int64_t p = 0; p < count; ++p, a += R, b += kPanel) {
    __m512i column[W];
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) {
      column[w] = _mm512_loadu_si512(b + w * kLanes);
      _mm_prefetch(reinterpret_cast<const char*>(b + kAhead * kPanel + w * kLanes), _MM_HINT_T0);
    }
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      const __m512i row = _mm512_set1_epi32(static_cast<int>(a[r]));
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) sum[r][w] = Kind::add(sum[r][w], row, column[w]);
    }
  }
  const __m512 alpha = _mm512_set1_ps(to.alpha), beta = _mm512_set1_ps(to.beta);
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) {
      const __mmask16 mask = w == W - 1 ? last : __mmask16{0xffff};
      const float* from = to.addend + r * to.ld_addend + w * kLanes;
      const __m512 old = _mm512_maskz_loadu_ps(to.beta == 0 ? __mmask16{0} : mask, from);
      _mm512_mask_storeu_ps(to.c + r * to.ldc + w * kLanes, mask,
                            _mm512_fmadd_ps(beta, old, _mm512_mul_ps(alpha, sum[r][w])));
    }
  }
}

#pragma GCC pop_options

using Micro = void (*)(int64_t, const void*, const void*, const PanelResult&, __mmask16);

template <class Kind, int... kR>
constexpr std::array<std::array<Micro, 2>, kRows> micros(std::integer_sequence<int, kR...>) {
  return {{{&micro<Kind, kR + 1, 1>, &micro<Kind, kR + 1, 2>}...}};
}
template <class Kind>
constexpr auto kMicros = micros<Kind>(std::make_integer_sequence<int, kRows>());

// A[row…, first…] in panels, `first` and `depth` in words: those of one step of all rows of a panel side by side.
template <class Kind>
void order_left(const GemmArgs<typename Kind::Number>& g, int64_t row, int64_t height, int64_t first, int64_t depth,
                Word* to) {
  constexpr int64_t kNumbers = Kind::kNumbers;
  const int64_t panels = divide_up(height, kRows), k = std::min(kNumbers * depth, g.k - kNumbers * first);
  for (int64_t i = 0; i < panels; ++i) {
    const Cut panel = cut_of(height, panels, i);
    const int64_t r = row + panel.begin;
    // Panels are written in their order, as the last vectors of one reach into the next.
    Word* at = to + panel.begin * depth;
    if (g.trans_a)
      interleave<Kind>(g.a + kNumbers * first * g.lda + r, g.lda, panel.count, k, at, panel.count);
    else
      turn<Kind>(g.a + r * g.lda + kNumbers * first, g.lda, panel.count, k, at, panel.count);
  }
}

template <class T>
using KindOf = std::conditional_t<std::is_same_v<T, float>, Floats, Pairs>;
template <class T>
constexpr DType kDType = std::is_same_v<T, float> ? DType::kFloat : DType::kBFloat16;

}  // namespace

template <class T>
void panel_order_right(const GemmArgs<T>& g, bool parallel, T* to) {
  order_right({kDType<T>, g.b, g.ldb, g.trans_b, g.k, g.n}, panel_words(kDType<T>, g.k), parallel, to);
}

template <class T>
void panel_product(const GemmArgs<T>& g, const T* right, int64_t depth, const PanelResult& to) {
  using Kind = KindOf<T>;
  constexpr int64_t kNumbers = Kind::kNumbers;
  const int64_t count = divide_up(g.k, kNumbers), runs = divide_up(count, kDepth), panels = divide_up(g.n, kPanel);
  // Of few rows each block of B is read once, so that its panels are made as they are needed, in the nearest cache.
  const bool own = right == nullptr, by_blocks = own && g.m <= kHeight;
  const int64_t width = by_blocks && g.trans_b ? 1 : kWidth;
  const int64_t own_depth = by_blocks ? kNumbers * divide_up(count, runs) : g.k;
  const Scratch<T> made(own ? panel_right_size(kDType<T>, own_depth, by_blocks ? std::min(g.n, width * kPanel) : g.n)
                            : 0);
  if (own) right = made, depth = own_depth;
  if (own && !by_blocks) panel_order_right(g, false, made.data());
  const int64_t stride = panel_words(kDType<T>, depth);
  const Scratch<uint32_t> left(std::min(g.m, kHeight) * std::min(count, kDepth) + kLanes);
  const auto* words = reinterpret_cast<const Word*>(right);
  for (int64_t i = 0; i < g.m; i += kHeight) {
    const int64_t height = std::min(kHeight, g.m - i), row_panels = divide_up(height, kRows);
    for (int64_t run = 0; run < runs; ++run) {
      const auto [p, part] = cut_of(count, runs, run);
      order_left<Kind>(g, i, height, p, part, left.data());
      for (int64_t block = 0; block < panels; block += width) {
        const Word* here = words + p * kPanel + block * stride;
        if (by_blocks) {
          const int64_t first = kNumbers * p, k = std::min(kNumbers * part, g.k - first), column = block * kPanel;
          order_right({kDType<T>, g.b + (g.trans_b ? column * g.ldb + first : first * g.ldb + column), g.ldb, g.trans_b,
                       k, std::min(g.n - column, width * kPanel)},
                      stride, false, made.data());
          here = words;
        }
        for (int64_t r = 0; r < row_panels; ++r) {
          const Cut rows = cut_of(height, row_panels, r);
          for (int64_t j = block; j < std::min(panels, block + width); ++j) {
            const int64_t columns = std::min(kPanel, g.n - j * kPanel);
            const __mmask16 last = first16(columns > kLanes ? columns - kLanes : columns);
            PanelResult at = to;
            at.c += (i + rows.begin) * to.ldc + j * kPanel;
            if (p > 0) at.beta = 1;
            if (p > 0 || to.addend == nullptr)
              at.addend = at.c, at.ld_addend = at.ldc;
            else
              at.addend += (i + rows.begin) * to.ld_addend + j * kPanel;
            kMicros<Kind>[static_cast<size_t>(rows.count - 1)][columns > kLanes](part, left + rows.begin * part,
                                                                                 here + (j - block) * stride, at, last);
          }
        }
      }
    }
  }
}

template void panel_order_right(const GemmArgs<float>&, bool, float*);
template void panel_order_right(const GemmArgs<BFloat16>&, bool, BFloat16*);
template void panel_product(const GemmArgs<float>&, const float*, int64_t, const PanelResult&);
template void panel_product(const GemmArgs<BFloat16>&, const BFloat16*, int64_t, const PanelResult&);

}  // namespace npu::ops::cube
