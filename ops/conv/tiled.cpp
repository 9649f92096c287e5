// SPDX-License-Identifier: Apache-2.0
// oneDNN's channels-last kernels, each call in one thread on a fixed part of the work: groups of images, blocks of
// output rows, and for weight gradients slices of output channels. Parts depend on sizes only. Images that are not
// channels-last, or of fewer bits, are rearranged and widened part by part, while they are in the cache.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "ops/conv/kernel.h"
#include "ops/cube/channels_last.h"
#include "ops/scratch.h"
#include "ops/vector/convert.h"

namespace npu::ops {
namespace {

using cube::ConvPass;
using cube::ConvShape;
using cube::OnednnConv;

constexpr int64_t kPartWork = int64_t{1} << 21;      // multiply-adds that pay for waking a thread
constexpr int64_t kPartElements = int64_t{1} << 17;  // of src and dst together: what the second-level cache holds
constexpr int64_t kParts = 8;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
size_t first_axis(const ConvShape& s) { return cube::kMaxSpatial - static_cast<size_t>(s.rank); }

// Images [n0, n0 + shape.n), output rows from `row`, input rows from `in_row`.
struct Part {
  ConvShape shape;
  std::shared_ptr<const OnednnConv> kernel;
  int64_t n0 = 0, row = 0, in_row = 0;
  size_t weights = 0;  ///< which packed copy of the weights fits the kernel
};

// Output rows [row, row + rows) with just the input rows they read.
ConvShape row_block(const ConvShape& s, int64_t row, int64_t rows, int64_t* in_row) {
  const size_t d = first_axis(s);
  const int64_t begin = row * s.stride[d] - s.pad[d];
  const int64_t end = (row + rows - 1) * s.stride[d] - s.pad[d] + s.dilation[d] * (s.kernel[d] - 1) + 1;
  ConvShape part = s;
  *in_row = std::clamp<int64_t>(begin, 0, s.in[d] - 1);
  part.pad[d] = *in_row - begin;
  part.in[d] = std::max<int64_t>(1, std::min(end, s.in[d]) - *in_row);
  part.out[d] = rows;
  return part;
}

// A part of a tensor as the kernel reads it: in place, or laid out in scratch memory.
class Laid {
 public:
  Laid(const Tensor& images, DType dtype)
      : images_(images),
        dtype_(dtype),
        in_place_(images.dtype == dtype && cube::is_channels_last(images)),
        room_(in_place_ ? 0 : images.count() * static_cast<int64_t>(size_of(dtype))) {}
  void* data() const { return in_place_ ? static_cast<void*>(images_.bytes()) : room_.data(); }
  void* load() const {
    if (!in_place_) cube::to_channels_last(images_, dtype_, room_.data());
    return data();
  }
  void store() const {
    if (!in_place_) cube::from_channels_last(room_.data(), dtype_, images_);
  }

 private:
  Tensor images_;
  DType dtype_;
  bool in_place_;
  Scratch<std::byte> room_;
};

// Forward and data gradient.
class Images final : public ConvKernel {
 public:
  static std::unique_ptr<ConvKernel> make(ConvPass pass, const ConvShape& s, DType dtype, bool bias) {
    auto made = std::make_unique<Images>();
    made->pass_ = pass, made->shape_ = s, made->dtype_ = dtype;
    const int64_t elements = s.c * s.in_pixels() + s.o * s.out_pixels();
    const int64_t parts = std::clamp<int64_t>(s.work() / kPartWork, 1, kParts);
    const int64_t images =
        std::min(divide_up(s.n, std::min(parts, s.n)), std::max<int64_t>(1, kPartElements / elements));
    const int64_t rows = s.out[first_axis(s)];
    // With fewer images than parts, images are cut as well.
    const int64_t blocks =
        pass == ConvPass::kForward && s.n < parts ? std::clamp<int64_t>(parts / s.n, 1, divide_up(rows, 4)) : 1;
    const int64_t tall = divide_up(rows, blocks);
    for (int64_t n = 0; n < s.n; n += images) {
      for (int64_t row = 0; row < rows; row += tall) {
        if (!made->add(n, std::min(images, s.n - n), row, std::min(tall, rows - row), bias)) return nullptr;
      }
    }
    return made;
  }

  void run(const ConvTensors& t) const override {
    const bool in_place = t.weight.dtype == dtype_ && t.weight.contiguous();
    const Scratch<std::byte> dense(in_place ? 0 : shape_.weight_count() * static_cast<int64_t>(size_of(dtype_)));
    if (!in_place) to_dense(t.weight, dtype_, dense.data());
    const void* plain = in_place ? t.weight.bytes() : dense.data();
    const Scratch<std::byte> packed(packed_bytes_);
    for (const auto& [kernel, place] : packed_) kernel->pack_weights(plain, packed + place);
    const Scratch<float> bias(t.bias.defined() ? shape_.o : 0);
    if (t.bias.defined()) {
      converter(t.bias.dtype, DType::kFloat)(t.bias.bytes(), t.bias.strides[0], bias.data(), 1, shape_.o);
    }
    parallel_parts(static_cast<int64_t>(parts_.size()), [&](int64_t i) {
      const Part& part = parts_[static_cast<size_t>(i)];
      run_part(part, t, packed + packed_[part.weights].second, bias);
    });
  }

 private:
  void run_part(const Part& part, const ConvTensors& t, std::byte* weights, const float* bias) const {
    const size_t d = first_axis(shape_);
    const auto piece = [&](const Tensor& images, int64_t row, int64_t rows) {
      return cube::narrow(cube::narrow(images, 0, part.n0, part.shape.n), 2, row, rows);
    };
    const Laid src(piece(t.src, part.in_row, part.shape.in[d]), dtype_);
    const Laid dst(piece(t.dst, part.row, part.shape.out[d]), dtype_);
    const bool forward = pass_ == ConvPass::kForward;
    (forward ? src : dst).load();
    part.kernel->run(src.data(), weights, bias, dst.data());
    (forward ? dst : src).store();
  }

  bool add(int64_t n, int64_t images, int64_t row, int64_t rows, bool bias) {
    Part part;
    part.shape = rows == shape_.out[first_axis(shape_)] ? shape_ : row_block(shape_, row, rows, &part.in_row);
    part.shape.n = images;
    part.n0 = n, part.row = row;
    part.kernel = OnednnConv::get(pass_, dtype_, part.shape, bias);
    if (part.kernel == nullptr) return false;
    while (part.weights < packed_.size() && !packed_[part.weights].first->same_weights(*part.kernel)) ++part.weights;
    if (part.weights == packed_.size()) {
      packed_.emplace_back(part.kernel, packed_bytes_);
      packed_bytes_ += static_cast<int64_t>((part.kernel->weight_bytes() + 63) / 64 * 64);
    }
    parts_.push_back(std::move(part));
    return true;
  }

  ConvPass pass_ = ConvPass::kForward;
  ConvShape shape_;
  DType dtype_ = DType::kFloat;
  std::vector<Part> parts_;
  std::vector<std::pair<std::shared_ptr<const OnednnConv>, int64_t>> packed_;  ///< kernel, place of its weights
  int64_t packed_bytes_ = 0;
};

class Weights final : public ConvKernel {
 public:
  static std::unique_ptr<ConvKernel> make(const ConvShape& s, DType dtype) {
    auto made = std::make_unique<Weights>();
    made->shape_ = s, made->dtype_ = dtype;
    // Adding up a part costs about as much as a thousand pixels of work, so parts over images hold at least that.
    const int64_t wanted = std::clamp<int64_t>(s.work() / kPartWork, 1, kParts);
    const int64_t most = std::clamp<int64_t>(s.n * s.out_pixels() / 1024, 1, std::min(wanted, s.n));
    made->images_ = divide_up(s.n, most);
    while (s.n % made->images_ != 0) ++made->images_;
    while (s.groups == 1 && s.n / made->images_ * made->slices_ < wanted && s.o % (made->slices_ * 32) == 0) {
      made->slices_ *= 2;
    }
    ConvShape part = s;
    part.n = made->images_, part.o = s.o / made->slices_;
    made->kernel_ = OnednnConv::get(ConvPass::kBackwardWeights, dtype, part, false);
    if (made->kernel_ == nullptr) return nullptr;
    return made;
  }

  void run(const ConvTensors& t) const override {
    const int64_t groups = shape_.n / images_, width = shape_.o / slices_;
    const auto floats = static_cast<int64_t>((kernel_->weight_bytes() + 63) / 64 * 16);
    const Scratch<float> sums(groups * slices_ * floats), dense(shape_.weight_count());
    parallel_parts(groups * slices_, [&](int64_t i) {
      const int64_t group = i / slices_, slice = i % slices_;
      const auto piece = [&](const Tensor& images) { return cube::narrow(images, 0, group * images_, images_); };
      const Laid src(piece(t.src), dtype_);
      const Laid dst(cube::narrow(piece(t.dst), 1, slice * width, width), dtype_);
      src.load(), dst.load();
      kernel_->run(src.data(), sums + (slice * groups + group) * floats, nullptr, dst.data());
    });
    parallel_parts(slices_, [&](int64_t slice) {
      float* sum = sums + slice * groups * floats;
      for (int64_t g = 1; g < groups; ++g) {
        const float* more = sum + g * floats;
        for (int64_t i = 0; i < floats; ++i) sum[i] += more[i];
      }
      kernel_->unpack_gradient(sum, dense + slice * (shape_.weight_count() / slices_));
    });
    from_dense(dense, DType::kFloat, t.weight);
  }

 private:
  ConvShape shape_;
  DType dtype_ = DType::kFloat;
  int64_t images_ = 1;  ///< of one part; divides the batch, so that one kernel serves all parts
  int64_t slices_ = 1;  ///< of the output channels
  std::shared_ptr<const OnednnConv> kernel_;
};

}  // namespace

std::unique_ptr<ConvKernel> make_tiled_conv(ConvPass pass, const ConvShape& shape, const ConvTensors& tensors) {
  if (conv_slot(tensors) != DType::kFloat || shape.work() == 0) return nullptr;
  const auto narrow = [](const Tensor& t) { return t.dtype == DType::kBFloat16; };
  const bool native =
      narrow(tensors.src) && narrow(tensors.weight) && narrow(tensors.dst) && cube::computes_natively(DType::kBFloat16);
  // Float16 is always widened: on most CPUs oneDNN has only reference code for its weight gradients.
  for (const DType dtype : {DType::kBFloat16, DType::kFloat}) {
    if (dtype == DType::kBFloat16 && !native) continue;
    auto kernel = pass == ConvPass::kBackwardWeights ? Weights::make(shape, dtype)
                                                     : Images::make(pass, shape, dtype, tensors.bias.defined());
    if (kernel != nullptr) return kernel;
  }
  return nullptr;
}

}  // namespace npu::ops
