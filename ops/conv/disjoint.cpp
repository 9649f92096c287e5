// SPDX-License-Identifier: Apache-2.0
// A kernel as large as its stride, without padding, cuts images into patches that share no pixel, as the first layer of
// a vision transformer does. Brought side by side, patches are the pixels of an image of many channels, and the
// convolution is one of kernel 1.
#include <algorithm>

#include "ops/conv/kernel.h"
#include "ops/scratch.h"
#include "ops/vector/elementwise/move.h"

namespace npu::ops {
namespace {

using cube::ConvPass;
using cube::ConvShape;
using cube::kX;
using cube::kY;

constexpr int64_t kLeastLine = 32;  // bytes of a patch's line: bringing shorter ones together costs more than it saves

bool cuts(const ConvShape& s) {
  const auto plain = [&](size_t d) {
    return s.kernel[d] == s.stride[d] && s.dilation[d] == 1 && s.pad[d] == 0 && s.in[d] >= s.out[d] * s.kernel[d];
  };
  return s.rank == 2 && s.groups == 1 && s.work() > 0 && s.kernel[kY] * s.kernel[kX] > 1 && plain(kY) && plain(kX);
}

// Patches as channels: [n, c * kernel, out], with all channels of a pixel side by side.
Tensor as_channels(const ConvShape& s, DType dtype, void* data) {
  const int64_t depth = s.c * s.kernel[kY] * s.kernel[kX], pixels = s.out[kY] * s.out[kX];
  return make_tensor(data, dtype, {s.n, s.out[kY], s.out[kX], depth})
      .view({s.n, depth, s.out[kY], s.out[kX]}, {pixels * depth, 1, s.out[kX] * depth, depth});
}

// The same elements of the images, and of what as_channels names: [n, out y, out x, c, kernel y, kernel x].
Dims patch_shape(const ConvShape& s) { return {s.n, s.out[kY], s.out[kX], s.c, s.kernel[kY], s.kernel[kX]}; }
Tensor patches_of(const ConvShape& s, const Tensor& images) {
  const Dims& t = images.strides;
  return images.view(patch_shape(s), {t[0], t[2] * s.kernel[kY], t[3] * s.kernel[kX], t[1], t[2], t[3]});
}

class Disjoint final : public ConvKernel {
 public:
  Disjoint(ConvPass pass, const ConvShape& s, const ConvTensors& t) : pass_(pass), s_(s) {
    ConvShape pointwise = s;
    pointwise.c = s.c * s.kernel[kY] * s.kernel[kX];
    pointwise.in = s.out, pointwise.kernel = pointwise.stride = {1, 1, 1};
    kernel_ = make_pointwise_conv(pass, pointwise, with(t, as_channels(s, t.src.dtype, nullptr)));
  }
  bool applies() const { return kernel_ != nullptr; }

  void run(const ConvTensors& t, const Chain* after) const override {
    const Scratch<std::byte> room(s_.n * s_.c * s_.in_pixels() * static_cast<int64_t>(size_of(t.src.dtype)));
    const Tensor patches = make_tensor(room.data(), t.src.dtype, patch_shape(s_));
    const ConvTensors beside = with(t, as_channels(s_, t.src.dtype, room.data()));
    Move move;
    if (pass_ != ConvPass::kBackwardData) {
      move.plan(patches_of(s_, t.src), patches);
      move.run();
      return kernel_->run(beside, after);
    }
    kernel_->run(beside, nullptr);
    // No patch holds what is left at the ends of lines and images.
    if (s_.in[kY] > s_.out[kY] * s_.kernel[kY] || s_.in[kX] > s_.out[kX] * s_.kernel[kX]) {
      move.plan(Operand{.tensor = {}, .scalar = Scalar(0)}, t.src);
      move.run();
    }
    move.plan(patches, patches_of(s_, t.src));
    move.run();
    if (after != nullptr) after->run();
  }

 private:
  // Weights of a patch stand as its elements do: c, then the kernel's lines.
  static ConvTensors with(const ConvTensors& t, const Tensor& src) {
    ConvTensors beside = t;
    beside.src = src;
    beside.weight = t.weight.view({t.weight.shape[0], src.shape[1], 1, 1}, {src.shape[1], 1, 1, 1});
    return beside;
  }

  ConvPass pass_;
  ConvShape s_;
  std::unique_ptr<ConvKernel> kernel_;
};

}  // namespace

std::unique_ptr<ConvKernel> make_disjoint_conv(ConvPass pass, const ConvShape& s, const ConvTensors& t) {
  const int64_t line = s.kernel[kX] * static_cast<int64_t>(size_of(t.src.dtype));
  if (!cuts(s) || line < kLeastLine || !t.weight.contiguous()) return nullptr;
  auto made = std::make_unique<Disjoint>(pass, s, t);
  if (!made->applies()) return nullptr;
  return made;
}

}  // namespace npu::ops
