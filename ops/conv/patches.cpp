// SPDX-License-Identifier: Apache-2.0
// Convolutions as products with the filter as TensorFlow keeps it, [kernel…, in, out], which is the matrix of a product
// as it stands. Two kinds gain by that: filters larger than all images, which would be laid out anew for every call and
// read once, and images of so few channels that the kernels for many compute mostly padding.
#include <algorithm>

#include "base/thread_pool.h"
#include "ops/conv/kernel.h"
#include "ops/cube/channels_last.h"
#include "ops/cube/gemm.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

using cube::ConvPass;
using cube::ConvShape;

// So few that each weight is used at most 64 times: laying the filter out would be a good part of the work.
constexpr int64_t kFewPixels = 64;
constexpr int64_t kLargeFilter = int64_t{1} << 18;  // elements: more than the second-level cache likes to hold
constexpr int64_t kFewChannels = 16;
constexpr int64_t kSmallWork = int64_t{1} << 21;  // multiply-adds

/// The patch under each output pixel as a row [kernel…, channels] of a matrix.
/// Kernel positions stand in the order of the filter's rows, so the filter is the product's other matrix as it lies.
class Unfolding {
 public:
  explicit Unfolding(const ConvShape& s) : s_(s), depth_(ConvShape::product(s.kernel) * s.c) {
    for (size_t d = 0; d < cube::kMaxSpatial; ++d) padded_ = padded_ || s.pad[d] > 0 || s.pad_after(d) > 0;
  }
  /// Columns of the matrix.
  int64_t depth() const { return depth_; }

  /// One image into out_pixels() rows.
  void unfold(const float* image, float* rows) const {
    // Only where something lies outside: elsewhere every element of the matrix is written below.
    if (padded_) std::fill_n(rows, s_.out_pixels() * depth_, 0.0f);
    each_run([&](int64_t at, int64_t pixel, int64_t count) { std::copy_n(image + pixel, count, rows + at); });
  }
  /// The way back: what several patches share is added, pixel by pixel of the output.
  void fold(const float* rows, float* image) const {
    std::fill_n(image, s_.in_pixels() * s_.c, 0.0f);
    each_run([&](int64_t at, int64_t pixel, int64_t count) {
      for (int64_t i = 0; i < count; ++i) image[pixel + i] += rows[at + i];
    });
  }

 private:
  /// Elements of the kernel along axis `d` that lie inside, as [first, last), for output position `o`.
  /// Both quotients round up: with dilation the first and last positions need not meet the border exactly.
  std::pair<int64_t, int64_t> inside(size_t d, int64_t o) const {
    const int64_t begin = o * s_.stride[d] - s_.pad[d], step = s_.dilation[d];
    const int64_t first = begin < 0 ? (-begin + step - 1) / step : 0;
    const int64_t last = std::min(s_.kernel[d], (s_.in[d] - begin + step - 1) / step);
    return {first, std::max(first, last)};
  }

  /// body(first element of the matrix, first element of the image, elements) for runs that lie together in both.
  template <class F>
  void each_run(F&& body) const {
    int64_t row = 0;
    for (int64_t z = 0; z < s_.out[0]; ++z)
      for (int64_t y = 0; y < s_.out[1]; ++y)
        for (int64_t x = 0; x < s_.out[2]; ++x, row += depth_) patch(z, y, x, row, body);
  }

  template <class F>
  void patch(int64_t z, int64_t y, int64_t x, int64_t row, F&& body) const {
    const auto [z0, z1] = inside(0, z);
    const auto [y0, y1] = inside(1, y);
    const auto [x0, x1] = inside(2, x);
    const auto place = [&](size_t d, int64_t o, int64_t k) {
      return o * s_.stride[d] - s_.pad[d] + k * s_.dilation[d];
    };
    for (int64_t i = z0; i < z1; ++i) {
      for (int64_t j = y0; j < y1; ++j) {
        const int64_t at = row + (i * s_.kernel[1] + j) * s_.kernel[2] * s_.c;
        const int64_t line = (place(0, z, i) * s_.in[1] + place(1, y, j)) * s_.in[2];
        // Neighbours in a row are neighbours in memory, and one copy takes them all. Dilation tears them apart.
        if (s_.dilation[2] == 1) {
          if (x0 < x1) body(at + x0 * s_.c, (line + place(2, x, x0)) * s_.c, (x1 - x0) * s_.c);
          continue;
        }
        for (int64_t k = x0; k < x1; ++k) body(at + k * s_.c, (line + place(2, x, k)) * s_.c, s_.c);
      }
    }
  }

  ConvShape s_;
  int64_t depth_;
  bool padded_ = false;
};

class Patches final : public ConvKernel {
 public:
  Patches(ConvPass pass, const ConvShape& s) : pass_(pass), s_(s), unfolding_(s) {
    // Images are shared out where there is work enough; a product with a large filter shares itself out.
    // Of the shape alone, never of the number of threads: parts decide how a product is cut, and so its bits.
    const int64_t parts =
        large_filter(s) ? 1 : std::clamp<int64_t>(s.work() / (kSmallWork / 8), 1, std::min(s.n, kParts));
    // The gradient of weights is one product over all pixels: its depth is sliced in the engine's own fixed order.
    images_ = pass == ConvPass::kBackwardWeights ? s.n : (s.n + parts - 1) / parts;
  }

  static bool large_filter(const ConvShape& s) {
    return s.weight_count() >= kLargeFilter && s.n * s.out_pixels() <= kFewPixels;
  }

  void run(const ConvTensors& t, const Chain* after) const override {
    if (pass_ == ConvPass::kBackwardWeights) return weights(t);
    const bool pieces = after != nullptr && after->by_pieces();
    const int64_t parts = (s_.n + images_ - 1) / images_, image = pass_ == ConvPass::kForward ? out() : in();
    parallel_parts(parts, [&](int64_t part) {
      const int64_t first = part * images_, count = std::min(images_, s_.n - first);
      pass_ == ConvPass::kForward ? forward(t, first, count) : data(t, first, count);
      if (pieces && parts > 1) after->run_piece(first * image, count, image, image);
    });
    if (after != nullptr && (!pieces || parts == 1)) after->run();
  }

 private:
  static constexpr int64_t kParts = 8;
  int64_t in() const { return s_.c * s_.in_pixels(); }
  int64_t out() const { return s_.o * s_.out_pixels(); }
  int64_t rows(int64_t images) const { return images * s_.out_pixels(); }

  /// In a part of the pool a product stays in its thread; alone it may use all of them.
  void product(const cube::GemmArgs<float>& args) const {
    images_ == s_.n ? cube::gemm(args) : cube::gemm_serial(args);
  }
  /// Images one by one, on the pool where this part is the only one.
  template <class F>
  void each_image(int64_t count, F&& body) const {
    const int64_t grain =
        images_ == s_.n ? std::max<int64_t>(1, (int64_t{1} << 15) / (s_.out_pixels() * unfolding_.depth())) : count;
    parallel_for(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) body(n);
    });
  }

  void unfold(const ConvTensors& t, int64_t first, int64_t count, float* patches) const {
    const float* src = t.src.as<float>() + first * in();
    each_image(count, [&](int64_t n) { unfolding_.unfold(src + n * in(), patches + rows(n) * unfolding_.depth()); });
  }

  void forward(const ConvTensors& t, int64_t first, int64_t count) const {
    const int64_t depth = unfolding_.depth();
    const Scratch<float> patches(rows(count) * depth);
    unfold(t, first, count, patches);
    cube::GemmArgs<float> g{false, false, rows(count), s_.o, depth};
    g.a = patches, g.lda = depth;
    g.b = t.weight.as<float>(), g.ldb = s_.o;
    g.c = t.dst.as<float>() + first * out(), g.ldc = s_.o;
    // The sum begins with the bias, so no pass follows that would read the result again.
    if (t.bias.defined()) {
      for (int64_t i = 0; i < rows(count) * s_.o; ++i) g.c[i] = t.bias.as<float>()[i % s_.o * t.bias.strides[0]];
      g.beta = 1;
    }
    product(g);
  }

  void data(const ConvTensors& t, int64_t first, int64_t count) const {
    const int64_t depth = unfolding_.depth();
    const Scratch<float> patches(rows(count) * depth);
    cube::GemmArgs<float> g{false, true, rows(count), depth, s_.o};
    g.a = t.dst.as<float>() + first * out(), g.lda = s_.o;
    g.b = t.weight.as<float>(), g.ldb = s_.o;
    g.c = patches, g.ldc = depth;
    product(g);
    float* src = t.src.as<float>() + first * in();
    // Patches overlap: each image is folded by one thread, so a pixel gets its terms in one order.
    each_image(count, [&](int64_t n) { unfolding_.fold(patches + rows(n) * depth, src + n * in()); });
  }

  void weights(const ConvTensors& t) const {
    const int64_t depth = unfolding_.depth();
    const Scratch<float> patches(rows(s_.n) * depth);
    unfold(t, 0, s_.n, patches);
    cube::GemmArgs<float> g{true, false, depth, s_.o, rows(s_.n)};
    g.a = patches, g.lda = depth;
    g.b = t.dst.as<float>(), g.ldb = s_.o;
    g.c = t.weight.as<float>(), g.ldc = s_.o;
    product(g);
  }

  ConvPass pass_;
  ConvShape s_;
  Unfolding unfolding_;
  int64_t images_;  ///< of one part
};

bool is_float(const Tensor& t) { return !t.defined() || t.dtype == DType::kFloat; }

}  // namespace

std::unique_ptr<ConvKernel> make_patches_kernel(ConvPass pass, const ConvShape& s, const ConvTensors& t) {
  const auto layout = weight_layout(t.weight);
  const bool floats = is_float(t.src) && is_float(t.weight) && is_float(t.bias) && is_float(t.dst);
  // Work of 0 is left to the last way, which writes the zeros that empty sums are.
  if (!floats || s.groups != 1 || s.work() == 0 || !layout || layout->order != cube::WeightOrder::kOutputsLast)
    return nullptr;
  if (!cube::is_channels_last(t.src) || !cube::is_channels_last(t.dst)) return nullptr;
  return std::make_unique<Patches>(pass, s);
}

std::unique_ptr<ConvKernel> make_patches_conv(ConvPass pass, const ConvShape& s, const ConvTensors& t) {
  // Patches of fewer channels are copied in pieces too short.
  const bool few_channels = s.c >= 8 && std::min(s.c, s.o) < kFewChannels && s.work() <= kSmallWork;
  if (!Patches::large_filter(s) && !few_channels) return nullptr;
  return make_patches_kernel(pass, s, t);
}

}  // namespace npu::ops
