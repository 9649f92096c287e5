// SPDX-License-Identifier: Apache-2.0
// Squares that stay in registers.
#include "ops/vector/elementwise/transpose.h"

#include <algorithm>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/vector/elementwise/transpose.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void transpose_plain(const T* from, int64_t stride, int64_t rows, int64_t cols, T* to, int64_t to_stride) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) to[c * to_stride + r] = from[r * stride + c];
  }
}

/// Squares of 16-byte rows: the interleaves of every target work within 16 bytes.
template <class T>
constexpr int kSide = 16 / static_cast<int>(sizeof(T));

// A perfect shuffle of the rows, log2(kSide) times: each pass interleaves row i with row i + kSide / 2.
template <class T>
HWY_INLINE void transpose_square(const T* from, int64_t stride, T* to, int64_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  transpose_plain(from, stride, kSide<T>, kSide<T>, to, to_stride);
#else
  constexpr size_t kRows = kSide<T>;
  const hn::FixedTag<T, kRows> d;
  hn::VFromD<decltype(d)> rows[kRows], next[kRows];
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows; ++i) rows[i] = hn::LoadU(d, from + static_cast<int64_t>(i) * stride);
#pragma GCC unroll 4
  for (size_t pass = 1; pass < kRows; pass *= 2) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kRows / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + kRows / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + kRows / 2]);
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < kRows; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows; ++i) hn::StoreU(rows[i], d, to + static_cast<int64_t>(i) * to_stride);
#endif
}

// Three rows become triples, as the colours of a picture do.
template <class T>
HWY_INLINE void transpose_three(const T* from, int64_t stride, int64_t cols, T* to) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= cols; c += lanes) {
    const auto r0 = hn::LoadU(d, from + c), r1 = hn::LoadU(d, from + stride + c);
    hn::StoreInterleaved3(r0, r1, hn::LoadU(d, from + 2 * stride + c), d, to + 3 * c);
  }
  transpose_plain(from + c, stride, 3, cols - c, to + 3 * c, 3);
}

template <class T>
void transpose_squares(const T* from, int64_t stride, int64_t rows, int64_t cols, T* to, int64_t to_stride) {
  if (rows == 3 && to_stride == 3) return transpose_three(from, stride, cols, to);
  constexpr int64_t kTall = 64 / static_cast<int64_t>(sizeof(T));
  // kTall rows at a time fill whole cache lines of the result.
  for (int64_t r = 0; r < rows; r += kTall) {
    const int64_t tall = std::min(kTall, rows - r), whole = tall / kSide<T> * kSide<T>;
    int64_t c = 0;
    for (; c + kSide<T> <= cols; c += kSide<T>) {
      for (int64_t q = 0; q < whole; q += kSide<T>) {
        transpose_square(from + (r + q) * stride + c, stride, to + c * to_stride + r + q, to_stride);
      }
    }
    // What is left below and to the right of whole squares.
    transpose_plain(from + (r + whole) * stride, stride, tall - whole, c, to + r + whole, to_stride);
    transpose_plain(from + r * stride + c, stride, tall, cols - c, to + c * to_stride + r, to_stride);
  }
}

// By size only: bfloat16 and float16 share a kernel.
void transpose_any(const void* from, int64_t stride, int64_t rows, int64_t cols, int64_t element, void* to,
                   int64_t to_stride) {
  const auto as = [&]<class T>(T) {
    transpose_squares(static_cast<const T*>(from), stride, rows, cols, static_cast<T*>(to), to_stride);
  };
  switch (element) {
    case 1: return as(uint8_t{});
    case 2: return as(uint16_t{});
    case 4: return as(uint32_t{});
    default: return as(uint64_t{});
  }
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {

HWY_EXPORT(transpose_any);

void transpose(const void* from, int64_t stride, int64_t rows, int64_t cols, int64_t element, void* to,
               int64_t to_stride) {
  HWY_DYNAMIC_DISPATCH(transpose_any)(from, stride, rows, cols, element, to, to_stride);
}

}  // namespace npu::ops
#endif
