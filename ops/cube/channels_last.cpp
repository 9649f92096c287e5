// SPDX-License-Identifier: Apache-2.0
// Convolution computes channels last whatever the client's layout, so a client that keeps channels first pays for two
// copies a call, which must run at the speed of memory. Pixels are walked as few long runs, and a run is turned in
// squares that stay in registers; other element types are converted in a block in cache on the way, never by a second
// pass over memory.
#include "ops/cube/channels_last.h"

#include <algorithm>

#include "ops/vector/conversion/convert.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cube/channels_last.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::cube::HWY_NAMESPACE {
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

template <class T>
void transpose_squares(const T* from, int64_t stride, int64_t rows, int64_t cols, T* to, int64_t to_stride) {
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

}  // namespace npu::ops::cube::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops::cube {
namespace {

HWY_EXPORT(transpose_any);

// Pixels and channels of a block that is converted in the first-level cache before it is transposed.
constexpr int64_t kBlockPixels = 64;
constexpr int64_t kBlockChannels = 32;

// One image's pixels as runs of equal stride: `rows` runs of `length` pixels.
struct Runs {
  Dims shape, strides;  // outer spatial axes
  int64_t length = 1, step = 1;
};

Runs runs_of(const Tensor& images) {
  Runs runs;
  runs.shape = Dims(std::span(images.shape.data() + 2, images.rank() - 2));
  runs.strides = Dims(std::span(images.strides.data() + 2, images.rank() - 2));
  runs.length = runs.shape.back(), runs.step = runs.strides.back();
  // The stride of an axis of length 1 means nothing.
  if (runs.length == 1) runs.step = 1;
  runs.shape.pop_back(), runs.strides.pop_back();
  // An outer axis that continues where the inner one ends makes the run longer.
  while (!runs.shape.empty() && (runs.shape.back() == 1 || runs.strides.back() == runs.length * runs.step)) {
    runs.length *= runs.shape.back();
    runs.shape.pop_back(), runs.strides.pop_back();
  }
  return runs;
}

// Calls body(offset of a run in elements) for every image and run, in dense order.
template <class F>
void each_run(const Tensor& images, const Runs& runs, F&& body) {
  const int64_t count = count_of(runs.shape);
  for (int64_t n = 0; n < images.shape[0]; ++n) {
    for (int64_t i = 0; i < count; ++i) {
      int64_t offset = n * images.strides[0], rest = i;
      for (size_t d = runs.shape.size(); d-- > 0; rest /= runs.shape[d])
        offset += rest % runs.shape[d] * runs.strides[d];
      body(offset);
    }
  }
}

template <class F>
void each_block(int64_t length, int64_t channels, F&& body) {
  for (int64_t p = 0; p < length; p += kBlockPixels) {
    for (int64_t c = 0; c < channels; c += kBlockChannels) {
      body(p, std::min(kBlockPixels, length - p), c, std::min(kBlockChannels, channels - c));
    }
  }
}

int64_t bytes_of(DType dtype) { return static_cast<int64_t>(size_of(dtype)); }

}  // namespace

void transpose(const void* from, int64_t stride, int64_t rows, int64_t cols, int64_t element, void* to,
               int64_t to_stride) {
  HWY_DYNAMIC_DISPATCH(transpose_any)(from, stride, rows, cols, element, to, to_stride);
}

Tensor narrow(const Tensor& t, size_t axis, int64_t begin, int64_t size) {
  Tensor out = t;
  out.offset += begin * t.strides[axis];
  out.shape[axis] = size;
  return out;
}

bool is_channels_last(const Tensor& t) {
  int64_t expected = t.shape[1];
  if (t.shape[1] != 1 && t.strides[1] != 1) return false;
  for (size_t d = t.rank(); d-- > 2; expected *= t.shape[d]) {
    if (t.shape[d] != 1 && t.strides[d] != expected) return false;
  }
  return t.shape[0] == 1 || t.strides[0] == expected;
}

void to_channels_last(const Tensor& images, DType dtype, void* to) {
  if (is_channels_last(images)) return converter(images.dtype, dtype)(images.bytes(), 1, to, 1, images.count());
  const Runs runs = runs_of(images);
  const int64_t channels = images.shape[1], from_size = bytes_of(images.dtype), size = bytes_of(dtype);
  const int64_t step = runs.step, channel_step = images.strides[1];
  const Convert convert = converter(images.dtype, dtype);
  auto* out = static_cast<std::byte*>(to);
  alignas(64) std::byte block[kBlockPixels * kBlockChannels * 8];
  each_run(images, runs, [&](int64_t offset) {
    const std::byte* run = images.bytes() + offset * from_size;
    if (step != 1 || channels == 1) {
      for (int64_t p = 0; p < runs.length; ++p) {
        convert(run + p * step * from_size, channel_step, out + p * channels * size, 1, channels);
      }
    } else {
      each_block(runs.length, channels, [&](int64_t p, int64_t pixels, int64_t c, int64_t depth) {
        const std::byte* from = run + (p + c * channel_step) * from_size;
        int64_t stride = channel_step;
        if (images.dtype != dtype) {
          for (int64_t i = 0; i < depth; ++i) {
            convert(from + i * channel_step * from_size, 1, block + i * kBlockPixels * size, 1, pixels);
          }
          from = block, stride = kBlockPixels;
        }
        transpose(from, stride, depth, pixels, size, out + (p * channels + c) * size, channels);
      });
    }
    out += runs.length * channels * size;
  });
}

void from_channels_last(const void* from, DType dtype, const Tensor& images) {
  if (is_channels_last(images)) return converter(dtype, images.dtype)(from, 1, images.bytes(), 1, images.count());
  const Runs runs = runs_of(images);
  const int64_t channels = images.shape[1], to_size = bytes_of(images.dtype), size = bytes_of(dtype);
  const int64_t step = runs.step, channel_step = images.strides[1];
  const Convert convert = converter(dtype, images.dtype);
  const auto* in = static_cast<const std::byte*>(from);
  alignas(64) std::byte block[kBlockPixels * kBlockChannels * 8];
  each_run(images, runs, [&](int64_t offset) {
    std::byte* run = images.bytes() + offset * to_size;
    if (step != 1 || channels == 1) {
      for (int64_t p = 0; p < runs.length; ++p) {
        convert(in + p * channels * size, 1, run + p * step * to_size, channel_step, channels);
      }
    } else {
      each_block(runs.length, channels, [&](int64_t p, int64_t pixels, int64_t c, int64_t depth) {
        const std::byte* at = in + (p * channels + c) * size;
        std::byte* out = run + (p + c * channel_step) * to_size;
        if (images.dtype == dtype) return transpose(at, channels, pixels, depth, size, out, channel_step);
        transpose(at, channels, pixels, depth, size, block, kBlockPixels);
        for (int64_t i = 0; i < depth; ++i) {
          convert(block + i * kBlockPixels * size, 1, out + i * channel_step * to_size, 1, pixels);
        }
      });
    }
    in += runs.length * channels * size;
  });
}

}  // namespace npu::ops::cube
#endif
