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

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void transpose_4x4(const uint32_t* from, int64_t stride, uint32_t* to, int64_t to_stride) {
  transpose_plain(from, stride, 4, 4, to, to_stride);
}
HWY_INLINE void transpose_8x8(const uint16_t* from, int64_t stride, uint16_t* to, int64_t to_stride) {
  transpose_plain(from, stride, 8, 8, to, to_stride);
}
#else
// Blocks of 8 x 8 half words: each pass interleaves row i with row i + 4.
HWY_INLINE void transpose_8x8(const uint16_t* from, int64_t stride, uint16_t* to, int64_t to_stride) {
  const hn::FixedTag<uint16_t, 8> d;
  hn::VFromD<decltype(d)> rows[8], next[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) rows[i] = hn::LoadU(d, from + i * stride);
#pragma GCC unroll 3
  for (int pass = 0; pass < 3; ++pass) {
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) {
      next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + 4]);
      next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + 4]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) hn::StoreU(rows[i], d, to + i * to_stride);
}

// Blocks of 4 x 4 words in registers: pairs of rows are interleaved twice.
HWY_INLINE void transpose_4x4(const uint32_t* from, int64_t stride, uint32_t* to, int64_t to_stride) {
  const hn::FixedTag<uint32_t, 4> d;
  const hn::FixedTag<uint64_t, 2> d2;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + stride);
  const auto r2 = hn::LoadU(d, from + 2 * stride), r3 = hn::LoadU(d, from + 3 * stride);
  const auto a = hn::BitCast(d2, hn::InterleaveLower(d, r0, r1)), b = hn::BitCast(d2, hn::InterleaveLower(d, r2, r3));
  const auto e = hn::BitCast(d2, hn::InterleaveUpper(d, r0, r1)), f = hn::BitCast(d2, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, a, b)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, a, b)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, e, f)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, e, f)), d, to + 3 * to_stride);
}
#endif

HWY_INLINE void transpose_square(const uint32_t* from, int64_t stride, uint32_t* to, int64_t to_stride) {
  transpose_4x4(from, stride, to, to_stride);
}
HWY_INLINE void transpose_square(const uint16_t* from, int64_t stride, uint16_t* to, int64_t to_stride) {
  transpose_8x8(from, stride, to, to_stride);
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
  // Squares of 16-byte rows: the interleaves of every target work within 16 bytes.
  constexpr int64_t kSide = 16 / static_cast<int64_t>(sizeof(T)), kTall = 64 / static_cast<int64_t>(sizeof(T));
  // kTall rows at a time fill whole cache lines of the result.
  for (int64_t r = 0; r < rows; r += kTall) {
    const int64_t tall = std::min(kTall, rows - r), whole = tall / kSide * kSide;
    int64_t c = 0;
    for (; c + kSide <= cols; c += kSide) {
      for (int64_t q = 0; q < whole; q += kSide) {
        transpose_square(from + (r + q) * stride + c, stride, to + c * to_stride + r + q, to_stride);
      }
    }
    // What is left below and to the right of whole squares.
    transpose_plain(from + (r + whole) * stride, stride, tall - whole, c, to + r + whole, to_stride);
    transpose_plain(from + r * stride + c, stride, tall, cols - c, to + c * to_stride + r, to_stride);
  }
}

template <class T>
void transpose_blocks(const T* from, int64_t stride, int64_t rows, int64_t cols, T* to, int64_t to_stride) {
  // Double elements have no square of their own: blocks of 16 x 16 keep both sides in cache.
  constexpr int64_t kBlock = 16;
  for (int64_t r = 0; r < rows; r += kBlock) {
    for (int64_t c = 0; c < cols; c += kBlock) {
      transpose_plain(from + r * stride + c, stride, std::min(kBlock, rows - r), std::min(kBlock, cols - c),
                      to + c * to_stride + r, to_stride);
    }
  }
}

// By size only: bfloat16 and float16 share a kernel.
void transpose_any(const void* from, int64_t stride, int64_t rows, int64_t cols, int64_t element, void* to,
                   int64_t to_stride) {
  if (element == 4) {
    transpose_squares(static_cast<const uint32_t*>(from), stride, rows, cols, static_cast<uint32_t*>(to), to_stride);
  } else if (element == 2) {
    transpose_squares(static_cast<const uint16_t*>(from), stride, rows, cols, static_cast<uint16_t*>(to), to_stride);
  } else {
    transpose_blocks(static_cast<const uint64_t*>(from), stride, rows, cols, static_cast<uint64_t*>(to), to_stride);
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
