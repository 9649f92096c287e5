// SPDX-License-Identifier: Apache-2.0
// A kernel of size 1 makes every pixel a product with the weight matrix. No image is rearranged: channels-last images
// are one tall matrix, channels-first ones a batch of wide ones.
#include <algorithm>

#include "base/thread_pool.h"
#include "ops/conv/kernel.h"
#include "ops/matmul/product.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

using cube::ConvPass;
using cube::ConvShape;

// Images as [n, channels, pixels], or undefined when the pixels are not evenly spaced.
// A product needs one step between neighbours: padded rows or every second pixel have two.
Tensor flat_images(const Tensor& t) {
  int64_t pixels = 1, step = 1;
  for (size_t d = t.rank(); d-- > 2;) {
    if (t.shape[d] == 1) continue;
    if (pixels == 1)
      step = t.strides[d];
    else if (t.strides[d] != pixels * step)
      return {};
    pixels *= t.shape[d];
  }
  return t.view({t.shape[0], t.shape[1], pixels}, {t.strides[0], t.strides[1], step});
}

Tensor flat_weight(const Tensor& w) { return w.view({w.shape[0], w.shape[1]}, {w.strides[0], w.strides[1]}); }

// One channel lies both ways; as channels-first it needs no transposition.
bool channels_last(const Tensor& flat) { return flat.strides[1] == 1 && flat.shape[1] > 1; }

// Stride 0 along the batch tells Product that the matrix repeats: channels-last images fold into one product.
Tensor repeated(const Tensor& matrix, int64_t n) {
  return matrix.view({n, matrix.shape[0], matrix.shape[1]}, {0, matrix.strides[0], matrix.strides[1]});
}

// Images in, images out: forward and data gradient.
class Images final : public ConvKernel {
 public:
  Images(bool forward, const Tensor& in, const Tensor& weight, const Tensor& bias, const Tensor& out, bool kept = false)
      : forward_(forward), by_pixels_(channels_last(in) && channels_last(out)) {
    if (kept) product_.keep_right();
    const int64_t n = in.shape[0];
    const Tensor w = forward ? flat_weight(weight) : flat_weight(weight).transposed(0, 1);
    Tensor sum;
    if (bias.defined()) sum = bias.view(out.shape, {0, bias.strides[0], 0});
    if (!by_pixels_) {
      product_.plan(repeated(w, n), in, sum, out);
      return;
    }
    // Rows of pixels: all images fold into one product.
    if (sum.defined()) sum = sum.transposed(1, 2);
    product_.plan(in.transposed(1, 2), repeated(w.transposed(0, 1), n), sum, out.transposed(1, 2));
  }
  void run(const ConvTensors& t, const Chain* after) const override {
    const Tensor& in = forward_ ? t.src : t.dst;
    const Tensor& out = forward_ ? t.dst : t.src;
    // The tensors have the client's shape, not the flat one: run takes nothing but addresses from them.
    if (by_pixels_) return product_.run(in, t.weight, t.bias, out, after);
    product_.run(t.weight, in, t.bias, out);
    if (after != nullptr) after->run();
  }
  bool orders_weight() const { return product_.orders_right(); }

 private:
  bool forward_, by_pixels_;
  Product product_;
};

// One side of the weight gradient: [channels, n * pixels]. Channels-last images are that matrix, transposed, as they
// are; others are laid out anew, channel by channel.
class Side {
 public:
  explicit Side(const Tensor& flat) : flat_(flat) {
    const int64_t pixels = flat.shape[0] * flat.shape[2];
    // Each image must begin where the one before it ends, or the images are no one matrix.
    in_place_ = channels_last(flat) && (flat.shape[0] == 1 || flat.strides[0] == flat.shape[2] * flat.strides[2]);
    matrix_ = in_place_ ? flat.view({flat.shape[1], pixels}, {1, flat.strides[2]})
                        : make_tensor(nullptr, flat.dtype, {flat.shape[1], pixels});
  }
  const Tensor& matrix() const { return matrix_; }
  int64_t room() const { return in_place_ ? 0 : bytes_of(flat_); }

  Tensor lay_out(const Tensor& images, std::byte* to) const {
    Tensor out = matrix_;
    out.data = in_place_ ? images.data : to;
    out.offset = in_place_ ? images.offset : 0;
    if (in_place_) return out;
    // Only moved: what is to be widened is widened by Product as it packs.
    const Convert copy = converter(flat_.dtype, flat_.dtype);
    const auto size = static_cast<int64_t>(size_of(flat_.dtype));
    const int64_t n = flat_.shape[0], channels = flat_.shape[1], pixels = flat_.shape[2];
    const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(pixels, 1));
    parallel_for(n * channels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t image = i / channels, channel = i % channels;
        const std::byte* from = images.bytes() + (image * flat_.strides[0] + channel * flat_.strides[1]) * size;
        copy(from, flat_.strides[2], to + (channel * n + image) * pixels * size, 1, pixels);
      }
    });
    return out;
  }

 private:
  Tensor flat_, matrix_;
  bool in_place_ = false;
};

// dW [o, c]: the sum over images and pixels of dst * src, one product along all pixels.
// The order of that sum, and of the slices of a long one, is the engine's and depends on sizes only.
class Weights final : public ConvKernel {
 public:
  Weights(const Tensor& src, const Tensor& dst, const Tensor& weight) : src_(src), dst_(dst) {
    product_.plan(dst_.matrix(), src_.matrix().transposed(0, 1), {}, flat_weight(weight));
  }
  void run(const ConvTensors& t, const Chain*) const override {
    const Scratch<std::byte> src(src_.room()), dst(dst_.room());
    product_.run(dst_.lay_out(t.dst, dst), src_.lay_out(t.src, src), {}, t.weight);
  }

 private:
  Side src_, dst_;
  Product product_;
};

}  // namespace

std::unique_ptr<ConvKernel> make_pointwise_conv(ConvPass pass, const ConvShape& shape, const ConvTensors& t) {
  const Tensor src = flat_images(t.src), dst = flat_images(t.dst);
  // Unevenly spaced images go on to the kernels that lay them out.
  if (!shape.pointwise() || !src.defined() || !dst.defined()) return nullptr;
  if (pass == ConvPass::kForward) {
    auto images = std::make_unique<Images>(true, src, t.weight, t.bias, dst, t.kept_weight);
    return kept_ways_win(pass, shape, t) && !images->orders_weight() ? nullptr : std::move(images);
  }
  if (pass == ConvPass::kBackwardData) return std::make_unique<Images>(false, dst, t.weight, Tensor(), src);
  return std::make_unique<Weights>(src, dst, t.weight);
}

}  // namespace npu::ops
