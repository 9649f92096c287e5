// SPDX-License-Identifier: Apache-2.0
// Up to 14 x 2 vectors of sums stay in registers while the summed axis runs: each step loads two vectors of B and
// spreads a word of A per row, so that the multiplications, not the loads, set the pace. Of 7 rows or fewer, as in
// narrow images, four vectors are taken at once, or the loads of B would.
#include <array>
#include <utility>

#include "base/division.h"
#include "base/thread_pool.h"
#include "ops/cube/panels.h"
#include "ops/cube/words_x86-inl.h"

namespace npu::ops::cube {

bool has_panels(DType dtype) {
  static const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_is("amd");
  static const bool pairs = wide && __builtin_cpu_supports("avx512bf16") && !__builtin_cpu_supports("amx-bf16");
  return dtype == DType::kFloat ? wide : dtype == DType::kBFloat16 && pairs;
}

namespace {

constexpr int kFewRows = 7;                 // up to which four vectors are taken
constexpr int64_t kAhead = 12;              // rows of B that are fetched before they are read
constexpr int64_t kOrderRows = 64;          // of B that are put into panels together
constexpr int64_t kPartElements = 1 << 15;  // a part of the pool should order at least these

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma")

// sum[r][w] over runs, of R rows that begin anywhere and W vectors of columns.
template <class Kind, int R, int W>
void micro(const Runs& runs, const void* left, const int64_t* rows, const void* right, int64_t panel, float* c,
           int64_t ldc, bool add) {
  __m512 sum[R][W];
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int w = 0; w < W; ++w) sum[r][w] = _mm512_setzero_ps();
  }
  for (int64_t i = 0; i < runs.steps; ++i) {
    const Word* row[R];
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r) row[r] = static_cast<const Word*>(left) + runs.a_steps[i] + rows[r];
    const Word* columns = static_cast<const Word*>(right) + runs.b_steps[i];
    for (int64_t p = 0; p < runs.run; ++p, columns += kPanel) {
      __m512i column[W];
#pragma GCC unroll 4
      for (int w = 0; w < W; ++w)
        _mm_prefetch(columns + (w / 2) * panel + w % 2 * kLanes + kAhead * kPanel, _MM_HINT_T0);
#pragma GCC unroll 4
      for (int w = 0; w < W; ++w) column[w] = _mm512_loadu_si512(columns + (w / 2) * panel + w % 2 * kLanes);
#pragma GCC unroll 14
      for (int r = 0; r < R; ++r) {
        const __m512i word = _mm512_set1_epi32(static_cast<int>(row[r][p]));
#pragma GCC unroll 4
        for (int w = 0; w < W; ++w) sum[r][w] = Kind::add(sum[r][w], word, column[w]);
      }
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int w = 0; w < W; ++w) {
      float* at = c + r * ldc + w * kLanes;
      _mm512_storeu_ps(at, add ? _mm512_add_ps(_mm512_loadu_ps(at), sum[r][w]) : sum[r][w]);
    }
  }
}

template <class Kind>
void gather(const typename Kind::Number* from, int64_t plane, int64_t channels, int64_t width, Word* to,
            int64_t pixel) {
  constexpr int64_t kBlock = Kind::kNumbers * kLanes;
  for (int64_t c = 0; c < channels; c += kBlock) {
    const int64_t words = std::min<int64_t>(kLanes, divide_up(channels - c, Kind::kNumbers));
    const __mmask16 mask = first16(words);
    for (int64_t p = 0; p < width; p += kLanes) {
      const int64_t pixels = std::min<int64_t>(kLanes, width - p);
      __m512i x[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) {
        const int64_t at = c + i * Kind::kNumbers;
        x[i] = i < words ? Kind::load_rows(from + at * plane + p, plane, first16(pixels), at + 1 < channels)
                         : _mm512_setzero_si512();
      }
      turn_square(x);
      for (int64_t i = 0; i < pixels; ++i)
        _mm512_mask_storeu_epi32(to + (p + i) * pixel + c / Kind::kNumbers, mask, x[i]);
    }
  }
}

// The taps of a panel's columns and of rows [begin, end) of k: 16 columns at a time are turned around.
template <class Kind>
void order_taps(const RightTaps& w, int64_t j, int64_t begin, int64_t end, Word* to) {
  const auto* data = static_cast<const typename Kind::Number*>(w.data);
  for (int64_t half = 0; half < kPanel; half += kLanes) {
    const int64_t columns = w.n - j - half;
    for (int64_t p = begin; p < end; p += Kind::kNumbers) {
      for (int64_t t = 0; t < w.taps; t += kLanes) {
        const int64_t taps = std::min<int64_t>(kLanes, w.taps - t);
        const auto* from = data + p * w.k_step + (j + half) * w.column_step + t;
        __m512i x[kLanes];
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) {
          x[i] = i < columns ? Kind::load_rows(from + i * w.column_step, w.k_step, first16(taps), p + 1 < w.k)
                             : _mm512_setzero_si512();
        }
        turn_square(x);
        for (int64_t i = 0; i < taps; ++i)
          _mm512_storeu_si512(to + (w.rows[t + i] + p / Kind::kNumbers) * kPanel + half, x[i]);
      }
    }
  }
}

// Rounded to the nearest, ties to even, as the house's conversion does: numbers below the normal ones stay, and a NaN
// stays one.
__m256i narrow(__m512 v) {
  const __m512i bits = _mm512_castps_si512(v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x00400000));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, nan, quiet), 16));
}

void store(__m512 v, __mmask16 mask, float* to) { _mm512_mask_storeu_ps(to, mask, v); }
void store(__m512 v, __mmask16 mask, BFloat16* to) { _mm256_mask_storeu_epi16(to, mask, narrow(v)); }

// A tile of sums, `rows` pixels by up to 16 channels, into the images it belongs to.
template <class Number>
void store_tile(const float* c, int64_t ldc, int64_t rows, int64_t channels, const float* bias, Number* out,
                int64_t out_pixel, int64_t out_channel) {
  const __mmask16 mask = first16(channels);
  const __m512 more = bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, bias);
  const auto line = [&](int64_t r) { return c + r * ldc; };
  if (out_channel == 1) {
    for (int64_t r = 0; r < rows; ++r) {
      const __m512 v = _mm512_loadu_ps(line(r));
      store(bias == nullptr ? v : _mm512_add_ps(v, more), mask, out + r * out_pixel);
    }
    return;
  }
  __m512i x[kLanes];
#pragma GCC unroll 16
  for (int r = 0; r < kLanes; ++r) {
    const __m512 v = r < rows ? _mm512_loadu_ps(line(r)) : _mm512_setzero_ps();
    x[r] = _mm512_castps_si512(bias == nullptr ? v : _mm512_add_ps(v, more));
  }
  turn_square(x);
  if (out_pixel == 1) {
    for (int64_t i = 0; i < channels; ++i) store(_mm512_castsi512_ps(x[i]), first16(rows), out + i * out_channel);
    return;
  }
  for (int64_t i = 0; i < channels; ++i) {
    alignas(64) Number numbers[kLanes];
    store(_mm512_castsi512_ps(x[i]), __mmask16{0xffff}, numbers);
    for (int64_t r = 0; r < rows; ++r) out[i * out_channel + r * out_pixel] = numbers[r];
  }
}

#pragma GCC pop_options

using Micro = void (*)(const Runs&, const void*, const int64_t*, const void*, int64_t, float*, int64_t, bool);
constexpr int kMostVectors = 4;

template <class Kind, int R>
constexpr std::array<Micro, kMostVectors> micros_of() {
  // With more rows there are registers for two vectors only.
  if constexpr (R <= kFewRows)
    return {&micro<Kind, R, 1>, &micro<Kind, R, 2>, &micro<Kind, R, 3>, &micro<Kind, R, 4>};
  else
    return {&micro<Kind, R, 1>, &micro<Kind, R, 2>, nullptr, nullptr};
}

template <class Kind, int... kR>
constexpr auto micros(std::integer_sequence<int, kR...>) {
  return std::array<std::array<Micro, kMostVectors>, kRows>{micros_of<Kind, kR + 1>()...};
}
template <class Kind>
constexpr auto kMicros = micros<Kind>(std::make_integer_sequence<int, kRows>());

template <class Kind>
void order_panel(const Right& right, int64_t j, int64_t first, int64_t k, Word* to) {
  using Number = typename Kind::Number;
  const auto* data = static_cast<const Number*>(right.data);
  for (int64_t half = 0; half < kPanel; half += kLanes) {
    const int64_t columns = std::clamp<int64_t>(right.n - j - half, 0, kLanes), column = j + (columns > 0 ? half : 0);
    if (right.turned)
      turn<Kind>(data + column * right.ld + first, right.ld, columns, k, to + half, kPanel);
    else
      interleave<Kind>(data + first * right.ld + column, right.ld, columns, k, to + half, kPanel);
  }
}

template <class Kind>
void order(const Right& right, int64_t words, bool parallel, Word* to) {
  // Along memory: panel by panel where k runs along it, else all columns of some rows, then the next.
  const auto part = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (right.turned) {
        order_panel<Kind>(right, i * kPanel, 0, right.k, to + i * words);
        continue;
      }
      const int64_t row = i * kOrderRows;
      for (int64_t j = 0; j < right.n; j += kPanel) {
        order_panel<Kind>(right, j, row, std::min(kOrderRows, right.k - row),
                          to + j / kPanel * words + row / Kind::kNumbers * kPanel);
      }
    }
  };
  const int64_t blocks = divide_up(right.turned ? right.n : right.k, right.turned ? kPanel : kOrderRows);
  const int64_t elements = right.turned ? kPanel * right.k : kOrderRows * right.n;
  if (parallel)
    parallel_for(blocks, divide_up(kPartElements, std::max<int64_t>(elements, 1)), part);
  else
    part(0, blocks);
}

template <class Kind>
void order(const RightTaps& right, int64_t words, Word* to) {
  const int64_t blocks = divide_up(right.k, kOrderRows), panels = divide_up(right.n, kPanel);
  const int64_t elements = std::min(kOrderRows, right.k) * kPanel * right.taps;
  parallel_for(blocks * panels, divide_up(kPartElements, elements), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i % blocks * kOrderRows, panel = i / blocks;
      order_taps<Kind>(right, panel * kPanel, row, std::min(right.k, row + kOrderRows), to + panel * words);
    }
  });
}

// One tile of sums leaves for the images: pixels `begin` on of a line of all images side by side.
template <class Number>
void store_pixels(const DirectBlock& d, int64_t y, Cut pixels, int64_t channel, const float* tile, int64_t ld) {
  const int64_t channels = std::min<int64_t>(kLanes, d.channels - channel), end = pixels.begin + pixels.count;
  auto* line = static_cast<Number*>(d.out) + y * d.out_line + channel * d.out_channel;
  for (int64_t q = pixels.begin, count = 0; q < end; q += count, tile += count * ld) {
    const int64_t image = q / d.width, x = q % d.width;
    count = std::min(end - q, d.width - x);
    store_tile(tile, ld, count, channels, d.bias == nullptr ? nullptr : d.bias + channel,
               line + image * d.out_image + x * d.out_pixel, d.out_pixel, d.out_channel);
  }
}

template <class Kind>
void block_of(const DirectBlock& d) {
  constexpr int64_t kTile = kMostVectors * kLanes;
  alignas(64) float tile[kRows * kTile];
  int64_t rows[kRows] = {};
  const int64_t all = d.images * d.width, parts = divide_up(all, kRows);
  const int64_t wide = divide_up(all, parts) <= kFewRows ? kTile : kTile / 2;
  // A panel of weights stays in the cache while all lines pass by it.
  for (int64_t first = 0; first < d.channels; first += wide) {
    const int64_t vectors = divide_up(std::min(wide, d.channels - first), kLanes);
    const Word* b = static_cast<const Word*>(d.b) + first / kPanel * d.panel;
    for (int64_t y = 0; y < d.height; ++y) {
      const Runs runs{d.runs.a_steps + d.lines[y], d.runs.b_steps + d.lines[y], d.lines[y + 1] - d.lines[y],
                      d.runs.run};
      for (int64_t part = 0; part < parts; ++part) {
        const Cut pixels = cut_of(all, parts, part);
        for (int64_t r = 0; r < pixels.count; ++r) {
          const int64_t q = pixels.begin + r;
          rows[r] = q / d.width * d.image + q % d.width * d.pixel;
        }
        kMicros<Kind>[static_cast<size_t>(pixels.count - 1)][static_cast<size_t>(vectors - 1)](
            runs, d.a, rows, b, d.panel, tile, kTile, false);
        for (int64_t v = 0; v < vectors; ++v)
          store_pixels<typename Kind::Number>(d, y, pixels, first + v * kLanes, tile + v * kLanes, kTile);
      }
    }
  }
}

template <class Kind>
void sums_of(const DirectSums& d) {
  int64_t rows[kRows];
  for (int64_t r = 0; r < kRows; ++r) rows[r] = r * d.row;
  kMicros<Kind>[static_cast<size_t>(d.rows - 1)][static_cast<size_t>(divide_up(d.cols, kLanes) - 1)](
      d.runs, static_cast<const Word*>(d.a), rows, static_cast<const Word*>(d.b), 0, d.c, d.ldc, d.add);
}

}  // namespace

void order_right(const Right& right, int64_t words, bool parallel, void* to) {
  if (right.dtype == DType::kFloat)
    order<Floats>(right, words, parallel, static_cast<Word*>(to));
  else
    order<Pairs>(right, words, parallel, static_cast<Word*>(to));
}

void order_right(const RightTaps& right, int64_t words, void* to) {
  if (right.dtype == DType::kFloat)
    order<Floats>(right, words, static_cast<Word*>(to));
  else
    order<Pairs>(right, words, static_cast<Word*>(to));
}

void gather_pixels(DType dtype, const void* from, int64_t plane, int64_t channels, int64_t width, void* to,
                   int64_t pixel) {
  if (dtype == DType::kFloat)
    gather<Floats>(static_cast<const float*>(from), plane, channels, width, static_cast<Word*>(to), pixel);
  else
    gather<Pairs>(static_cast<const BFloat16*>(from), plane, channels, width, static_cast<Word*>(to), pixel);
}

void direct_block(const DirectBlock& block) {
  if (block.dtype == DType::kFloat)
    block_of<Floats>(block);
  else
    block_of<Pairs>(block);
}

void direct_sums(const DirectSums& sums) {
  if (sums.dtype == DType::kFloat)
    sums_of<Floats>(sums);
  else
    sums_of<Pairs>(sums);
}

}  // namespace npu::ops::cube
