// SPDX-License-Identifier: Apache-2.0
// Convolution computes channels last whatever the client's layout, so a client that keeps channels first pays for two
// copies a call, which must run at the speed of memory. Pixels are walked as few long runs, and a run is transposed;
// other element types are converted in a block in cache on the way, never by a second pass over memory.
#include "ops/cube/channels_last.h"

#include <algorithm>

#include "ops/vector/conversion/convert.h"
#include "ops/vector/elementwise/transpose.h"

namespace npu::ops::cube {
namespace {

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
