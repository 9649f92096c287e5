// SPDX-License-Identifier: Apache-2.0
// Words of 32 bits in AVX-512 registers, and the ways into panels: see panels.h. For the files *_x86.cpp of this
// folder, which include it between push_options and pop_options of their own.
#pragma once

// GCC 12 takes the registers that its own header leaves undefined for a mistake.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <cstdint>

#include "base/half.h"
#include "ops/cube/panels.h"

// AVX512-BF16 adds one instruction, which stands in Pairs::add alone: CPUs without it never get there.
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma")

namespace npu::ops::cube {
namespace {

// What a word is read as may lie at any address that its numbers have.
typedef uint32_t Word __attribute__((may_alias, aligned(2)));  // NOLINT: attributes need typedef

constexpr int kLanes = 16;  // words in a vector
// Of A that a block of sums holds: with two vectors each, 28 of 32 registers.
constexpr int kRows = static_cast<int>(kMostRows);

inline __mmask16 first16(int64_t count) {
  return count >= 16 ? __mmask16{0xffff} : static_cast<__mmask16>((1u << count) - 1);
}
inline __mmask32 first32(int64_t count) { return count >= 32 ? ~__mmask32{0} : (__mmask32{1} << count) - 1; }

// 16 x 16 words are turned around: within groups of four lanes, then the groups.
[[gnu::always_inline]] inline void turn_square(__m512i (&x)[kLanes]) {
  __m512i y[kLanes];
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
}

struct Floats {
  using Number = float;
  static constexpr int64_t kNumbers = 1;  // in a word
  static __m512 add(__m512 sum, __m512i a, __m512i b) {
    return _mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), sum);
  }
  /// The words of `k` numbers that follow each other.
  static __m512i load(const Number* from, int64_t k) { return _mm512_maskz_loadu_epi32(first16(k), from); }
  /// A word of each column: row 0 alone.
  static __m512i load_rows(const Number* from, int64_t, __mmask16 columns, bool) {
    return _mm512_maskz_loadu_epi32(columns, from);
  }
};

struct Pairs {
  using Number = BFloat16;
  static constexpr int64_t kNumbers = 2;
  static __m512 add(__m512 sum, __m512i a, __m512i b) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }
  static __m512i load(const Number* from, int64_t k) { return _mm512_maskz_loadu_epi16(first32(k), from); }
  /// A word of each column: rows 0 and 1, which is a zero where there is none.
  static __m512i load_rows(const Number* from, int64_t ld, __mmask16 columns, bool both) {
    const __m512i order = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7, 38, 6,
                                           37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const __m256i even = _mm256_maskz_loadu_epi16(columns, from);
    const __m256i odd = _mm256_maskz_loadu_epi16(both ? columns : __mmask16{0}, from + ld);
    return _mm512_permutex2var_epi16(_mm512_castsi256_si512(even), order, _mm512_castsi256_si512(odd));
  }
};

// k rows of up to 16 columns: the words of each step of k side by side, a step `step` words behind the one before.
// What is written beyond `columns` is overwritten by the next step, or is room of the caller's.
template <class Kind>
void interleave(const typename Kind::Number* from, int64_t ld, int64_t columns, int64_t k, Word* to, int64_t step) {
  const __mmask16 mask = first16(columns);
  for (int64_t p = 0; p < k; p += Kind::kNumbers, from += Kind::kNumbers * ld, to += step)
    _mm512_storeu_si512(to, Kind::load_rows(from, ld, mask, p + 1 < k));
}

// The same of up to 16 columns along which k runs: the words are there already, and are turned around.
template <class Kind>
void turn(const typename Kind::Number* from, int64_t ld, int64_t columns, int64_t k, Word* to, int64_t step) {
  constexpr int64_t kBlock = Kind::kNumbers * kLanes;
  int64_t p = 0;
  // Whole squares without a branch. Columns that are not there may be any where the next step overwrites them.
  if (columns == kLanes || columns == step) {
    const typename Kind::Number* column[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) column[i] = from + std::min(i, columns - 1) * ld;
    for (; p + kBlock <= k; p += kBlock, to += kLanes * step) {
      __m512i x[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) x[i] = _mm512_loadu_si512(column[i] + p);
      turn_square(x);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) _mm512_storeu_si512(to + i * step, x[i]);
    }
  }
  for (; p < k; p += kBlock, to += kLanes * step) {
    __m512i x[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i)
      x[i] = i < columns ? Kind::load(from + i * ld + p, std::min(k - p, kBlock)) : _mm512_setzero_si512();
    turn_square(x);
    const int64_t count = std::min<int64_t>(kLanes, (k - p + Kind::kNumbers - 1) / Kind::kNumbers);
    for (int64_t i = 0; i < count; ++i) _mm512_storeu_si512(to + i * step, x[i]);
  }
}

// Rows [begin, begin + count) of `height` rows that are cut as evenly as can be.
struct Cut {
  int64_t begin, count;
};
inline Cut cut_of(int64_t height, int64_t parts, int64_t index) {
  const int64_t least = height / parts, longer = height % parts;
  return {index * least + std::min(index, longer), least + (index < longer ? 1 : 0)};
}

}  // namespace
}  // namespace npu::ops::cube

#pragma GCC pop_options
