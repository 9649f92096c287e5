// SPDX-License-Identifier: Apache-2.0
// Gradients of a depthwise convolution, one channel in and one out of each group. oneDNN 3.2 has kernels for a few of
// them only, and takes reference loops for the others. A part is a block of channels of some images, which is brought
// to channels-last floats in the cache and computed there, a vector of channels at a time.
#include <algorithm>
#include <vector>

#include "ops/conv/kernel.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv/depthwise.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#ifndef NPU_OPS_CONV_DEPTHWISE
#define NPU_OPS_CONV_DEPTHWISE
namespace npu::ops {
namespace {

constexpr int64_t kBlock = 16;  // channels: a cache line of floats

// One axis of an image and of its output; for each tap the outputs that read inside the image.
struct DepthwiseAxis {
  int64_t in, out, kernel, stride, pad, dilation;
  int64_t at(int64_t o, int64_t k) const { return o * stride - pad + k * dilation; }
  int64_t first(int64_t k) const {
    const int64_t short_by = -at(0, k);
    return short_by <= 0 ? 0 : (short_by + stride - 1) / stride;
  }
  int64_t last(int64_t k) const {
    const int64_t left = in - 1 - at(0, k);
    return left < 0 ? 0 : std::min(out, left / stride + 1);
  }
};

// For each place of an axis the taps and outputs that read it: those of place i are [begin[i], begin[i + 1]).
struct DepthwiseReaders {
  std::vector<int64_t> begin, tap, out;
};

}  // namespace
}  // namespace npu::ops
#endif

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// sums[tap][channel] += outputs x inputs over an image; `width` channels, images [pixel][channel]. A line's sum begins
// at zero and is added as a whole: long sums lose digits. All taps of a line follow each other, while it is near.
void depthwise_weights(const float* src, const float* dst, const DepthwiseAxis& y, const DepthwiseAxis& x,
                       int64_t width, float* sums) {
  const hn::CappedTag<float, kBlock> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t oy = 0; oy < y.out; ++oy) {
    for (int64_t ky = 0; ky < y.kernel; ++ky) {
      const int64_t iy = y.at(oy, ky);
      if (iy < 0 || iy >= y.in) continue;
      for (int64_t kx = 0; kx < x.kernel; ++kx) {
        const int64_t first = x.first(kx), last = x.last(kx), step = x.stride * width;
        for (int64_t c = 0; c < width; c += lanes) {
          const auto mask = hn::FirstN(d, static_cast<size_t>(std::min(lanes, width - c)));
          const float* out = dst + (oy * x.out + first) * width + c;
          const float* in = src + (iy * x.in + x.at(first, kx)) * width + c;
          auto even = hn::Zero(d), odd = hn::Zero(d);
          int64_t ox = first;
          for (; ox + 2 <= last; ox += 2, out += 2 * width, in += 2 * step) {
            even = hn::MulAdd(hn::MaskedLoad(mask, d, out), hn::MaskedLoad(mask, d, in), even);
            odd = hn::MulAdd(hn::MaskedLoad(mask, d, out + width), hn::MaskedLoad(mask, d, in + step), odd);
          }
          if (ox < last) even = hn::MulAdd(hn::MaskedLoad(mask, d, out), hn::MaskedLoad(mask, d, in), even);
          float* sum = sums + (ky * x.kernel + kx) * width + c;
          hn::BlendedStore(hn::Add(hn::MaskedLoad(mask, d, sum), hn::Add(even, odd)), mask, d, sum);
        }
      }
    }
  }
}

// src[pixel][channel], each the sum over the outputs that read it; weights [tap][channel].
void depthwise_data(const float* dst, const float* weights, const DepthwiseReaders& y, const DepthwiseReaders& x,
                    int64_t out_width, int64_t kernel_width, int64_t width, float* src) {
  const hn::CappedTag<float, kBlock> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (size_t iy = 0; iy + 1 < y.begin.size(); ++iy) {
    for (size_t ix = 0; ix + 1 < x.begin.size(); ++ix, src += width) {
      for (int64_t c = 0; c < width; c += lanes) {
        const auto mask = hn::FirstN(d, static_cast<size_t>(std::min(lanes, width - c)));
        auto sum = hn::Zero(d);
        for (auto i = static_cast<size_t>(y.begin[iy]); i < static_cast<size_t>(y.begin[iy + 1]); ++i) {
          const float* row = dst + y.out[i] * out_width * width + c;
          const float* taps = weights + y.tap[i] * kernel_width * width + c;
          for (auto j = static_cast<size_t>(x.begin[ix]); j < static_cast<size_t>(x.begin[ix + 1]); ++j) {
            sum = hn::MulAdd(hn::MaskedLoad(mask, d, row + x.out[j] * width),
                             hn::MaskedLoad(mask, d, taps + x.tap[j] * width), sum);
          }
        }
        hn::BlendedStore(sum, mask, d, src + c);
      }
    }
  }
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "base/division.h"
#include "base/thread_pool.h"
#include "ops/cube/channels_last.h"
#include "ops/scratch.h"

namespace npu::ops {

HWY_EXPORT(depthwise_weights);
HWY_EXPORT(depthwise_data);

namespace {

using cube::ConvPass;
using cube::ConvShape;
using cube::kX;
using cube::kY;

constexpr int64_t kParts = 8;  // a constant: where images are cut into groups shows in the bits

DepthwiseAxis axis_of(const ConvShape& s, size_t d) {
  return {s.in[d], s.out[d], s.kernel[d], s.stride[d], s.pad[d], s.dilation[d]};
}

DepthwiseReaders readers_of(const DepthwiseAxis& axis) {
  DepthwiseReaders found;
  for (int64_t i = 0; i < axis.in; ++i) {
    found.begin.push_back(static_cast<int64_t>(found.tap.size()));
    for (int64_t k = 0; k < axis.kernel; ++k) {
      const int64_t from = i - axis.at(0, k);
      if (from < 0 || from % axis.stride != 0 || from / axis.stride >= axis.out) continue;
      found.tap.push_back(k), found.out.push_back(from / axis.stride);
    }
  }
  found.begin.push_back(static_cast<int64_t>(found.tap.size()));
  return found;
}

// Channels [c, c + width) of image n.
Tensor block_of(const Tensor& images, int64_t n, int64_t c, int64_t width) {
  return cube::narrow(cube::narrow(images, 0, n, 1), 1, c, width);
}

class Depthwise : public ConvKernel {
 public:
  explicit Depthwise(const ConvShape& s)
      : s_(s), y_(axis_of(s, kY)), x_(axis_of(s, kX)), taps_(s.kernel[kY] * s.kernel[kX]) {}

 protected:
  int64_t blocks() const { return divide_up(s_.c, kBlock); }
  int64_t width_of(int64_t c) const { return std::min(kBlock, s_.c - c); }
  /// Of a weight among those of all blocks, [block][tap][channel of the block].
  int64_t place_of(int64_t c, int64_t tap) const {
    const int64_t first = c / kBlock * kBlock;
    return first * taps_ + tap * width_of(first) + c - first;
  }

  ConvShape s_;
  DepthwiseAxis y_, x_;
  int64_t taps_;
};

class DepthwiseWeights final : public Depthwise {
 public:
  using Depthwise::Depthwise;

  void run(const ConvTensors& t, const Chain*) const override {
    const int64_t groups = std::min(s_.n, divide_up(kParts, blocks()));
    const Scratch<float> sums(groups * s_.c * taps_), dense(s_.c * taps_);
    parallel_parts(groups * blocks(), [&](int64_t part) {
      const int64_t group = part / blocks(), c = part % blocks() * kBlock;
      add_up(t, s_.n * group / groups, s_.n * (group + 1) / groups, c, sums + (group * s_.c + c) * taps_);
    });
    for (int64_t c = 0; c < s_.c; ++c) {
      for (int64_t tap = 0; tap < taps_; ++tap) {
        float sum = 0;
        for (int64_t group = 0; group < groups; ++group) sum += sums[group * s_.c * taps_ + place_of(c, tap)];
        dense[c * taps_ + tap] = sum;
      }
    }
    from_dense(dense, DType::kFloat, t.weight);
  }

 private:
  void add_up(const ConvTensors& t, int64_t begin, int64_t end, int64_t c, float* sums) const {
    const int64_t width = width_of(c);
    const Scratch<float> src(s_.in_pixels() * width), dst(s_.out_pixels() * width);
    std::fill_n(sums, taps_ * width, 0.0f);
    for (int64_t n = begin; n < end; ++n) {
      cube::to_channels_last(block_of(t.src, n, c, width), DType::kFloat, src);
      cube::to_channels_last(block_of(t.dst, n, c, width), DType::kFloat, dst);
      HWY_DYNAMIC_DISPATCH(depthwise_weights)(src, dst, y_, x_, width, sums);
    }
  }
};

class DepthwiseData final : public Depthwise {
 public:
  explicit DepthwiseData(const ConvShape& s) : Depthwise(s), of_y_(readers_of(y_)), of_x_(readers_of(x_)) {}

  void run(const ConvTensors& t, const Chain* after) const override {
    const Scratch<float> dense(s_.c * taps_), weights(s_.c * taps_);
    to_dense(t.weight, DType::kFloat, dense);
    for (int64_t c = 0; c < s_.c; ++c) {
      for (int64_t tap = 0; tap < taps_; ++tap) weights[place_of(c, tap)] = dense[c * taps_ + tap];
    }
    parallel_parts(s_.n * blocks(), [&](int64_t part) {
      const int64_t n = part / blocks(), c = part % blocks() * kBlock, width = width_of(c);
      const Scratch<float> src(s_.in_pixels() * width), dst(s_.out_pixels() * width);
      cube::to_channels_last(block_of(t.dst, n, c, width), DType::kFloat, dst);
      HWY_DYNAMIC_DISPATCH(depthwise_data)
      (dst, weights + c * taps_, of_y_, of_x_, s_.out[kX], s_.kernel[kX], width, src);
      cube::from_channels_last(src, DType::kFloat, block_of(t.src, n, c, width));
    });
    if (after != nullptr) after->run();
  }

 private:
  DepthwiseReaders of_y_, of_x_;
};

}  // namespace

std::unique_ptr<ConvKernel> make_depthwise_conv(ConvPass pass, const ConvShape& s, const ConvTensors& t) {
  const bool depthwise = s.groups == s.c && s.c == s.o && s.groups > 1 && s.rank == 2;
  if (!depthwise || s.work() == 0 || conv_slot(t) != DType::kFloat) return nullptr;
  if (pass == ConvPass::kBackwardWeights) return std::make_unique<DepthwiseWeights>(s);
  // Of float32 oneDNN has this kernel, and without a stride also of bfloat16.
  const bool strided = s.stride[kY] * s.stride[kX] > 1;
  if (pass == ConvPass::kBackwardData && strided && cube::computes_natively(t.src.dtype))
    return std::make_unique<DepthwiseData>(s);
  return nullptr;
}

}  // namespace npu::ops
#endif
