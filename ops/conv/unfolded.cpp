// SPDX-License-Identifier: Apache-2.0
// The plain way: the patch under each output pixel becomes a row of a matrix, and the convolution a product. Images are
// channels-last, so a patch is copied in runs of channels.
#include <algorithm>

#include "base/thread_pool.h"
#include "ops/conv/kernel.h"
#include "ops/cube/channels_last.h"
#include "ops/cube/gemm.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

using cube::ConvPass;
using cube::ConvShape;

// Calls body(output pixel, kernel position, input pixel) for every pair that lies inside the image.
template <class F>
void each_tap(const ConvShape& s, F&& body) {
  const int64_t taps = ConvShape::product(s.kernel), pixels = s.out_pixels();
  for (int64_t p = 0; p < pixels; ++p) {
    const int64_t place[3] = {p / (s.out[1] * s.out[2]), p / s.out[2] % s.out[1], p % s.out[2]};
    for (int64_t q = 0; q < taps; ++q) {
      const int64_t tap[3] = {q / (s.kernel[1] * s.kernel[2]), q / s.kernel[2] % s.kernel[1], q % s.kernel[2]};
      int64_t at = 0;
      bool inside = true;
      for (size_t d = 0; d < 3; ++d) {
        const int64_t x = place[d] * s.stride[d] - s.pad[d] + tap[d] * s.dilation[d];
        inside = inside && x >= 0 && x < s.in[d];
        at = at * s.in[d] + x;
      }
      if (inside) body(p, q, at);
    }
  }
}

template <class T>
class Unfolded final : public ConvKernel {
 public:
  Unfolded(ConvPass pass, const ConvShape& shape)
      : pass_(pass),
        s_(shape),
        taps_(ConvShape::product(shape.kernel)),
        depth_(shape.c / shape.groups),
        width_(shape.o / shape.groups) {}

  void run(const ConvTensors& t, const Chain* after) const override {
    // Weights are turned with each call, as they may have changed since the last.
    const Scratch<T> dense(s_.weight_count()), weights(s_.weight_count());
    if (pass_ == ConvPass::kBackwardWeights) return gradient(t, dense, weights);
    to_dense(t.weight, dtype_of<T>, dense);
    each_weight([&](int64_t plain, int64_t turned) { weights[turned] = dense[plain]; });
    // An image is one part and computes in one thread: its sums have one order.
    parallel_parts(s_.n, [&](int64_t n) {
      if (pass_ == ConvPass::kForward)
        forward(image(t.src, n), weights, t.bias, image(t.dst, n));
      else
        data(image(t.dst, n), weights, image(t.src, n));
    });
    if (after != nullptr) after->run();
  }

 private:
  static Tensor image(const Tensor& t, int64_t n) { return cube::narrow(t, 0, n, 1); }
  int64_t patch() const { return taps_ * depth_; }

  // Row-major [o, depth, taps] against [group][tap][depth][width], which a product reads directly.
  template <class F>
  void each_weight(F&& body) const {
    for (int64_t o = 0; o < s_.o; ++o) {
      for (int64_t c = 0; c < depth_; ++c) {
        for (int64_t q = 0; q < taps_; ++q) {
          body((o * depth_ + c) * taps_ + q, ((o / width_ * taps_ + q) * depth_ + c) * width_ + o % width_);
        }
      }
    }
  }

  void unfold(const T* src, int64_t group, T* patches) const {
    // What lies in the padding is not visited below, and stays 0.
    std::fill_n(patches, s_.out_pixels() * patch(), T(0));
    each_tap(s_, [&](int64_t p, int64_t q, int64_t at) {
      std::copy_n(src + at * s_.c + group * depth_, depth_, patches + p * patch() + q * depth_);
    });
  }

  void forward(const Tensor& from, const T* weights, const Tensor& bias, const Tensor& to) const {
    const Scratch<T> src(s_.c * s_.in_pixels()), dst(s_.o * s_.out_pixels()), patches(s_.out_pixels() * patch());
    cube::to_channels_last(from, dtype_of<T>, src.data());
    // The sum begins with the bias: the result is rounded once, with the bias in it.
    if (bias.defined()) {
      converter(bias.dtype, dtype_of<T>)(bias.bytes(), bias.strides[0], dst.data(), 1, s_.o);
      for (int64_t p = 1; p < s_.out_pixels(); ++p) std::copy_n(dst.data(), s_.o, dst + p * s_.o);
    }
    for (int64_t g = 0; g < s_.groups; ++g) {
      // Groups write columns of one matrix side by side, so an image is stored once, whole.
      unfold(src, g, patches);
      cube::GemmArgs<T> product{false, false, s_.out_pixels(), width_, patch()};
      product.a = patches, product.lda = patch();
      product.b = weights + g * patch() * width_, product.ldb = width_;
      product.c = dst + g * width_, product.ldc = s_.o;
      product.beta = bias.defined() ? T(1) : T(0);
      cube::gemm_serial(product);
    }
    cube::from_channels_last(dst.data(), dtype_of<T>, to);
  }

  void data(const Tensor& from, const T* weights, const Tensor& to) const {
    const Scratch<T> src(s_.c * s_.in_pixels()), dst(s_.o * s_.out_pixels()), patches(s_.out_pixels() * patch());
    cube::to_channels_last(from, dtype_of<T>, dst.data());
    std::fill_n(src.data(), s_.c * s_.in_pixels(), T(0));
    for (int64_t g = 0; g < s_.groups; ++g) {
      cube::GemmArgs<T> product{false, true, s_.out_pixels(), patch(), width_};
      product.a = dst + g * width_, product.lda = s_.o;
      product.b = weights + g * patch() * width_, product.ldb = width_;
      product.c = patches, product.ldc = patch();
      cube::gemm_serial(product);
      each_tap(s_, [&](int64_t p, int64_t q, int64_t at) {
        const T* row = patches + p * patch() + q * depth_;
        // Patches overlap: a pixel gets its terms in the order of the output's pixels.
        T* sum = src + at * s_.c + g * depth_;
        for (int64_t c = 0; c < depth_; ++c) sum[c] += row[c];
      });
    }
    cube::from_channels_last(src.data(), dtype_of<T>, to);
  }

  // Images one after the other, so the sum has one order; each product is spread over the pool.
  void gradient(const ConvTensors& t, T* dense, T* weights) const {
    const Scratch<T> src(s_.c * s_.in_pixels()), dst(s_.o * s_.out_pixels()), patches(s_.out_pixels() * patch());
    std::fill_n(weights, s_.weight_count(), T(0));
    for (int64_t n = 0; n < s_.n; ++n) {
      cube::to_channels_last(image(t.src, n), dtype_of<T>, src.data());
      cube::to_channels_last(image(t.dst, n), dtype_of<T>, dst.data());
      for (int64_t g = 0; g < s_.groups; ++g) {
        unfold(src, g, patches);
        cube::GemmArgs<T> product{true, false, patch(), width_, s_.out_pixels()};
        product.a = patches, product.lda = patch();
        product.b = dst + g * width_, product.ldb = s_.o;
        product.c = weights + g * patch() * width_, product.ldc = width_;
        product.beta = T(1);
        cube::gemm(product);
      }
    }
    each_weight([&](int64_t plain, int64_t turned) { dense[plain] = weights[turned]; });
    from_dense(dense, dtype_of<T>, t.weight);
  }

  ConvPass pass_;
  ConvShape s_;
  int64_t taps_, depth_, width_;
};

}  // namespace

std::unique_ptr<ConvKernel> make_unfolded_conv(ConvPass pass, const ConvShape& shape, const ConvTensors& tensors) {
  if (conv_slot(tensors) == DType::kDouble) return std::make_unique<Unfolded<double>>(pass, shape);
  return std::make_unique<Unfolded<float>>(pass, shape);
}

}  // namespace npu::ops
