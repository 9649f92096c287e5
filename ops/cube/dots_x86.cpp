// SPDX-License-Identifier: Apache-2.0
// AVX512-BF16, which Highway has no words for. A panel of A holds up to 14 rows, one of B 32 columns; both hold pairs
// of k side by side, as the instruction reads them: it adds two products to each of 16 sums. Up to 14 x 2 vectors of
// sums stay in registers while k runs; each step loads two vectors of B and spreads a pair of A per row, so that the
// dot products, not the loads, set the pace.
#include "ops/cube/dots.h"

// GCC 12 takes the registers that its own header leaves undefined for a mistake.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/thread_pool.h"
#include "ops/scratch.h"

namespace npu::ops::cube {

bool has_dots() {
  static const bool has = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_is("amd") &&
                          !__builtin_cpu_supports("amx-bf16");
  return has;
}

namespace {

using Pair = uint32_t;  // two bfloat16, that of the smaller k first

constexpr int kRows = 14;                   // of a panel of A
constexpr int kLanes = 16;                  // pairs in a vector
constexpr int64_t kPanel = kDotPanel;       // pairs of a panel of B for one pair of k
constexpr int64_t kDepth = 512;             // pairs of k at a time: a panel of A stays in the first-level cache,
constexpr int64_t kWidth = 8;               // and this many panels of B in the second
constexpr int64_t kHeight = 8 * kRows;      // with so many rows of A
constexpr int64_t kOrderRows = 64;          // of B that are put into panels together: a power of 2
constexpr int64_t kPartElements = 1 << 15;  // a part of the pool should order at least these

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

const Pair* pairs(const BFloat16* at) { return reinterpret_cast<const Pair*>(at); }
Pair* pairs(BFloat16* at) { return reinterpret_cast<Pair*>(at); }

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512bf16")

__mmask16 first16(int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }
__mmask32 first32(int64_t count) { return count >= 32 ? ~__mmask32{0} : (__mmask32{1} << count) - 1; }

// c[r][16 w…] (+)= the dot products of R rows with W vectors of columns; `last` lanes of the last vector are written.
template <int R, int W>
void micro(int64_t count, const Pair* a, const Pair* b, float* c, int64_t ldc, __mmask16 last, bool add) {
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
    __m512bh column[W];
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) column[w] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + w * kLanes));
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) {
      const auto row = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(a[r])));
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) sum[r][w] = _mm512_dpbf16_ps(sum[r][w], row, column[w]);
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w)
      _mm512_mask_storeu_ps(c + r * ldc + w * kLanes, w == W - 1 ? last : __mmask16{0xffff}, sum[r][w]);
  }
}

// Rows p and p + 1 of `from`, up to 16 columns, become 16 pairs; of an odd k, the last pair ends with a zero.
// What is written beyond `columns` is overwritten by the next pair, or is room of the caller's.
void interleave(const BFloat16* from, int64_t ld, int64_t columns, int64_t k, Pair* to, int64_t step) {
  const __m512i order = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7, 38, 6, 37,
                                         5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
  const __mmask16 mask = first16(columns);
  for (int64_t p = 0; p < k; p += 2, from += 2 * ld, to += step) {
    const __m256i even = _mm256_maskz_loadu_epi16(mask, from);
    const __m256i odd = _mm256_maskz_loadu_epi16(p + 1 < k ? mask : __mmask16{0}, from + ld);
    _mm512_storeu_si512(to,
                        _mm512_permutex2var_epi16(_mm512_castsi256_si512(even), order, _mm512_castsi256_si512(odd)));
  }
}

// The same where k runs along the rows of `from`: pairs are there already, and 16 x 16 of them are turned around.
void turn(const BFloat16* from, int64_t ld, int64_t rows, int64_t k, Pair* to, int64_t step) {
  for (int64_t p = 0; p < k; p += 2 * kLanes, to += kLanes * step) {
    const __mmask32 mask = first32(k - p);
    __m512i x[kLanes], y[kLanes];
#pragma GCC unroll 16
    for (int r = 0; r < kLanes; ++r)
      x[r] = r < rows ? _mm512_maskz_loadu_epi16(mask, from + r * ld + p) : _mm512_setzero_si512();
      // Within each group of four lanes, then of the groups.
#pragma GCC unroll 8
    for (int r = 0; r < kLanes; r += 2) {
      y[r] = _mm512_unpacklo_epi32(x[r], x[r + 1]);
      y[r + 1] = _mm512_unpackhi_epi32(x[r], x[r + 1]);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kLanes; r += 4) {
      x[r] = _mm512_unpacklo_epi64(y[r], y[r + 2]);
      x[r + 1] = _mm512_unpackhi_epi64(y[r], y[r + 2]);
      x[r + 2] = _mm512_unpacklo_epi64(y[r + 1], y[r + 3]);
      x[r + 3] = _mm512_unpackhi_epi64(y[r + 1], y[r + 3]);
    }
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      y[r] = _mm512_shuffle_i32x4(x[r], x[r + 4], 0x88);
      y[r + 4] = _mm512_shuffle_i32x4(x[r], x[r + 4], 0xdd);
      y[r + 8] = _mm512_shuffle_i32x4(x[r + 8], x[r + 12], 0x88);
      y[r + 12] = _mm512_shuffle_i32x4(x[r + 8], x[r + 12], 0xdd);
    }
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      x[r] = _mm512_shuffle_i32x4(y[r], y[r + 8], 0x88);
      x[r + 8] = _mm512_shuffle_i32x4(y[r], y[r + 8], 0xdd);
      x[r + 4] = _mm512_shuffle_i32x4(y[r + 4], y[r + 12], 0x88);
      x[r + 12] = _mm512_shuffle_i32x4(y[r + 4], y[r + 12], 0xdd);
    }
    const int64_t count = std::min<int64_t>(kLanes, divide_up(k - p, 2));
    for (int64_t i = 0; i < count; ++i) _mm512_storeu_si512(to + i * step, x[i]);
  }
}

#pragma GCC pop_options

using Micro = void (*)(int64_t, const Pair*, const Pair*, float*, int64_t, __mmask16, bool);

template <int... kR>
constexpr std::array<std::array<Micro, 2>, kRows> micros(std::integer_sequence<int, kR...>) {
  return {{{&micro<kR + 1, 1>, &micro<kR + 1, 2>}...}};
}
constexpr auto kMicros = micros(std::make_integer_sequence<int, kRows>());

// Rows [begin, begin + count) of `height` rows that lie in panels as even as can be.
struct Panel {
  int64_t begin, count;
};
Panel panel_of(int64_t height, int64_t panels, int64_t index) {
  const int64_t least = height / panels, longer = height % panels;
  return {index * least + std::min(index, longer), least + (index < longer ? 1 : 0)};
}

// A[row…, 2 * first…] in panels: the pairs of one k of all rows of a panel side by side.
void order_left(const GemmArgs<BFloat16>& g, int64_t row, int64_t height, int64_t first, int64_t depth, Pair* to) {
  const int64_t panels = divide_up(height, kRows), k = std::min(2 * depth, g.k - 2 * first);
  for (int64_t i = 0; i < panels; ++i) {
    const Panel panel = panel_of(height, panels, i);
    const int64_t r = row + panel.begin;
    // Panels are written in their order, as the last vectors of one reach into the next.
    Pair* at = to + panel.begin * depth;
    if (g.trans_a)
      interleave(g.a + 2 * first * g.lda + r, g.lda, panel.count, k, at, panel.count);
    else
      turn(g.a + r * g.lda + 2 * first, g.lda, panel.count, k, at, panel.count);
  }
}

// B[2 * first…, j] of `k` rows and the columns of one panel, whose columns hold `depth` pairs each.
void order_panel(const GemmArgs<BFloat16>& g, int64_t j, int64_t first, int64_t k, int64_t depth, Pair* to) {
  for (int64_t half = 0; half < kPanel; half += kLanes) {
    const int64_t columns = std::clamp<int64_t>(g.n - j - half, 0, kLanes), column = j + (columns > 0 ? half : 0);
    Pair* at = to + j * depth + first * kPanel + half;
    if (g.trans_b)
      turn(g.b + column * g.ldb + 2 * first, g.ldb, columns, k, at, kPanel);
    else
      interleave(g.b + 2 * first * g.ldb + column, g.ldb, columns, k, at, kPanel);
  }
}

}  // namespace

void dots_order_right(const GemmArgs<BFloat16>& g, bool parallel, BFloat16* to) {
  const int64_t depth = divide_up(g.k, 2);
  // Along memory: panel by panel where k runs along the rows, else all columns of some rows, then the next.
  const auto order = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (g.trans_b) {
        order_panel(g, i * kPanel, 0, g.k, depth, pairs(to));
        continue;
      }
      const int64_t row = i * kOrderRows;
      for (int64_t j = 0; j < g.n; j += kPanel)
        order_panel(g, j, row / 2, std::min(kOrderRows, g.k - row), depth, pairs(to));
    }
  };
  const int64_t blocks = divide_up(g.trans_b ? g.n : g.k, g.trans_b ? kPanel : kOrderRows);
  const int64_t elements = g.trans_b ? kPanel * g.k : kOrderRows * g.n;
  if (parallel)
    parallel_for(blocks, divide_up(kPartElements, elements), order);
  else
    order(0, blocks);
}

void dots_multiply(const GemmArgs<BFloat16>& g, const BFloat16* right, int64_t depth, float* c) {
  const Scratch<BFloat16> own(right == nullptr ? dots_right_size(g.k, g.n) : 0);
  if (right == nullptr) {
    dots_order_right(g, false, own.data());
    right = own.data(), depth = g.k;
  }
  const int64_t stride = divide_up(depth, 2) * kPanel, count = divide_up(g.k, 2), panels = divide_up(g.n, kPanel);
  const Scratch<Pair> left(std::min(g.m, kHeight) * std::min(count, kDepth) + kLanes);
  const __mmask16 all = 0xffff;
  for (int64_t i = 0; i < g.m; i += kHeight) {
    const int64_t height = std::min(kHeight, g.m - i), row_panels = divide_up(height, kRows);
    for (int64_t p = 0; p < count; p += kDepth) {
      const int64_t part = std::min(kDepth, count - p);
      order_left(g, i, height, p, part, left.data());
      for (int64_t block = 0; block < panels; block += kWidth) {
        for (int64_t r = 0; r < row_panels; ++r) {
          const Panel rows = panel_of(height, row_panels, r);
          for (int64_t j = block; j < std::min(panels, block + kWidth); ++j) {
            const int64_t columns = std::min(kPanel, g.n - j * kPanel), rest = columns % kLanes;
            const auto last = rest == 0 ? all : static_cast<__mmask16>((1u << rest) - 1);
            kMicros[static_cast<size_t>(rows.count - 1)][columns > kLanes](
                part, left + rows.begin * part, pairs(right) + j * stride + p * kPanel,
                c + (i + rows.begin) * g.n + j * kPanel, g.n, last, p > 0);
          }
        }
      }
    }
  }
}

}  // namespace npu::ops::cube
