// SPDX-License-Identifier: Apache-2.0
// oneDNN's channels-last kernels, each call in one thread on a fixed part of the work: groups of images, blocks of
// output rows, and for weight gradients slices of output channels. Parts depend on sizes only. Images that are not
// channels-last, or of fewer bits, are rearranged and widened part by part, while they are in the cache.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/division.h"
#include "base/thread_pool.h"
#include "ops/conv/kernel.h"
#include "ops/cube/channels_last.h"
#include "ops/kept.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

using cube::ConvPass;
using cube::ConvShape;
using cube::OnednnConv;

constexpr int64_t kPartWork = int64_t{1} << 21;  // multiply-adds that pay for waking a thread
// The same where weights are packed already and each element of an image costs as much as kElementWork multiply-adds:
// depthwise kernels are mostly that, and what follows the convolution comes on top.
constexpr int64_t kKeptPartWork = int64_t{1} << 19;
constexpr int64_t kElementWork = 8;
constexpr int64_t kPartElements = int64_t{1} << 17;  // of src and dst together: what the second-level cache holds
// A constant and not the number of threads: where the work is cut shows in the bits.
constexpr int64_t kParts = 8;
constexpr int64_t kLeastRows = 3;  // of a block: neighbours both read those between them

size_t first_axis(const ConvShape& s) { return cube::kMaxSpatial - static_cast<size_t>(s.rank); }

// Images [n0, n0 + shape.n), output rows from `row`, input rows from `in_row`.
struct Part {
  ConvShape shape;
  std::shared_ptr<const OnednnConv> kernel;
  int64_t n0 = 0, row = 0, in_row = 0;
  size_t weights = 0;  ///< which packed copy of the weights fits the kernel
};

// As many as there should be parts, and so many that a block of an image stays in the second-level cache until what
// follows the convolution has gone over it, where all of the weights fit there as well.
int64_t kept_blocks(const ConvShape& s, int64_t elements, int64_t parts) {
  const int64_t by_cache = s.weight_count() <= kPartElements / 2 ? divide_up(elements, kPartElements) : 1;
  return std::max(parts / s.n, by_cache);
}

// Output rows [row, row + rows) with just the input rows they read.
// Blocks inside the image need no padding, those at its edges a part of the whole image's.
ConvShape row_block(const ConvShape& s, int64_t row, int64_t rows, int64_t* in_row) {
  const size_t d = first_axis(s);
  const int64_t begin = row * s.stride[d] - s.pad[d];
  const int64_t end = (row + rows - 1) * s.stride[d] - s.pad[d] + s.dilation[d] * (s.kernel[d] - 1) + 1;
  ConvShape part = s;
  *in_row = std::clamp<int64_t>(begin, 0, s.in[d] - 1);
  part.pad[d] = *in_row - begin;
  // A block may read nothing but padding; kernels take no images of size 0, so it keeps one row.
  part.in[d] = std::max<int64_t>(1, std::min(end, s.in[d]) - *in_row);
  part.out[d] = rows;
  return part;
}

// A part of a tensor as the kernel reads it: in place, or laid out in scratch memory.
// Only a part at a time is laid out, so it is still in the cache of the thread that computes on it.
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

// The client's weights as kernels pack them: in place, or laid out densely in scratch memory.
// Packing reorders anyway and reads three orders: only weights of another dtype or of odd strides take a detour.
class WeightOrigin {
 public:
  WeightOrigin() = default;
  WeightOrigin(const Tensor& weight, DType dtype)
      : layout{cube::WeightOrder::kRows, weight.shape[0], weight.shape[1]}, dtype_(dtype) {
    if (weight.dtype != dtype) return;
    const auto found = weight_layout(weight);
    in_place_ = found.has_value();
    if (in_place_) layout = *found;
  }
  int64_t room(const Tensor& weight) const {
    return in_place_ ? 0 : weight.count() * static_cast<int64_t>(size_of(dtype_));
  }
  /// Where the weights are: in the tensor, or in `dense`, of room() bytes.
  std::byte* place(const Tensor& weight, std::byte* dense) const { return in_place_ ? weight.bytes() : dense; }
  void load(const Tensor& weight, std::byte* dense) const {
    if (!in_place_) to_dense(weight, dtype_, dense);
  }
  void store(const std::byte* dense, const Tensor& weight) const {
    if (!in_place_) from_dense(dense, dtype_, weight);
  }
  /// Elements before output channel `output` and input channel `input`.
  int64_t offset(const ConvShape& s, int64_t output, int64_t input = 0) const {
    const int64_t taps = ConvShape::product(s.kernel);
    if (layout.order == cube::WeightOrder::kOutputsLast) return output + input * layout.outputs;
    return output * layout.inputs * taps + input * (layout.order == cube::WeightOrder::kRows ? taps : 1);
  }

  cube::WeightLayout layout;

 private:
  DType dtype_ = DType::kFloat;
  bool in_place_ = false;
};

// Forward and data gradient.
class Images final : public ConvKernel {
 public:
  static std::unique_ptr<ConvKernel> make(ConvPass pass, const ConvShape& s, DType dtype, const ConvTensors& tensors) {
    auto made = std::make_unique<Images>();
    const bool bias = tensors.bias.defined();
    made->pass_ = pass, made->shape_ = s, made->dtype_ = dtype, made->origin_ = WeightOrigin(tensors.weight, dtype);
    const int64_t most = conv_parts("tiled", pass, s, dtype, kParts);
    // A part should fit the second-level cache, but has one image at least.
    const int64_t elements = s.c * s.in_pixels() + s.o * s.out_pixels();
    const int64_t wanted =
        tensors.kept_weight ? (s.work() + kElementWork * s.n * elements) / kKeptPartWork : s.work() / kPartWork;
    const int64_t parts = std::clamp<int64_t>(wanted, 1, most);
    const int64_t images =
        std::min(divide_up(s.n, std::min(parts, s.n)), std::max<int64_t>(1, kPartElements / elements));
    const int64_t rows = s.out[first_axis(s)];
    // With fewer images than parts, images are cut as well.
    // Forward only: two blocks of the incoming gradient's rows would add into the same rows of the result. A block has
    // about four rows at least, as neighbours both read the rows between them.
    const int64_t blocks = pass != ConvPass::kForward ? 1
                           : tensors.kept_weight      ? even_parts(kept_blocks(s, elements, parts), rows, kLeastRows)
                           : s.n < parts              ? std::clamp<int64_t>(parts / s.n, 1, divide_up(rows, 4))
                                                      : 1;
    const int64_t tall = divide_up(rows, blocks);
    const auto begin_of = [&](int64_t block) { return tensors.kept_weight ? rows * block / blocks : tall * block; };
    // The last part of either kind may be smaller; it gets a kernel of its own.
    for (int64_t n = 0; n < s.n; n += images) {
      for (int64_t block = 0; block < blocks && begin_of(block) < rows; ++block) {
        const int64_t row = begin_of(block), end = std::min(begin_of(block + 1), rows);
        if (!made->add(n, std::min(images, s.n - n), row, end - row, bias)) return nullptr;
      }
    }
    return made;
  }

  void run(const ConvTensors& t, const Chain* after) const override {
    const bool pieces = after != nullptr && after->by_pieces();
    // Once for all parts, before any of them begins; once for all runs where the weights stay.
    const Scratch<std::byte> room(t.kept_weight ? 0 : packed_bytes_);
    std::byte* const packed =
        t.kept_weight ? kept_.of(t.weight.bytes(), packed_bytes_, [&](std::byte* to) { pack(t, to); }) : room.data();
    if (!t.kept_weight) pack(t, packed);
    const Scratch<float> bias(t.bias.defined() ? shape_.o : 0);
    if (t.bias.defined()) {
      converter(t.bias.dtype, DType::kFloat)(t.bias.bytes(), t.bias.strides[0], bias.data(), 1, shape_.o);
    }
    parallel_parts(static_cast<int64_t>(parts_.size()), [&](int64_t i) {
      const Part& part = parts_[static_cast<size_t>(i)];
      run_part(part, t, packed + packed_[part.weights].second, bias);
      if (pieces) finish_part(part, *after);
    });
    if (after != nullptr && !pieces) after->run();
  }

 private:
  void pack(const ConvTensors& t, std::byte* to) const {
    const Scratch<std::byte> dense(origin_.room(t.weight));
    origin_.load(t.weight, dense);
    const std::byte* weights = origin_.place(t.weight, dense);
    for (const auto& [kernel, place] : packed_) kernel->pack_weights(weights, to + place);
  }

  void run_part(const Part& part, const ConvTensors& t, std::byte* weights, const float* bias) const {
    const size_t d = first_axis(shape_);
    const auto piece = [&](const Tensor& images, int64_t row, int64_t rows) {
      return cube::narrow(cube::narrow(images, 0, part.n0, part.shape.n), 2, row, rows);
    };
    const Laid src(piece(t.src, part.in_row, part.shape.in[d]), dtype_);
    const Laid dst(piece(t.dst, part.row, part.shape.out[d]), dtype_);
    const bool forward = pass_ == ConvPass::kForward;
    // Each part has its own call and its own output, and shares no sum: bits do not depend on who computes it.
    (forward ? src : dst).load();
    part.kernel->run(src.data(), weights, bias, dst.data());
    (forward ? dst : src).store();
  }

  /// What follows, on the images or rows that the part has written.
  /// While it is in this thread's cache. Only forward passes are cut into rows.
  void finish_part(const Part& part, const Chain& after) const {
    const bool forward = pass_ == ConvPass::kForward;
    const int64_t image = forward ? shape_.o * shape_.out_pixels() : shape_.c * shape_.in_pixels();
    if (!forward) return after.run_piece(part.n0 * image, part.shape.n, image, image);
    const int64_t row = image / shape_.out[first_axis(shape_)];
    after.run_piece(part.n0 * image + part.row * row, part.shape.n, image, part.shape.out[first_axis(shape_)] * row);
  }

  bool add(int64_t n, int64_t images, int64_t row, int64_t rows, bool bias) {
    Part part;
    part.shape = rows == shape_.out[first_axis(shape_)] ? shape_ : row_block(shape_, row, rows, &part.in_row);
    part.shape.n = images;
    part.n0 = n, part.row = row;
    // One part without a kernel sends the whole pass to the next way: two ways would round in two manners.
    part.kernel = OnednnConv::get(pass_, dtype_, part.shape, bias, origin_.layout);
    if (part.kernel == nullptr) return false;
    // Kernels of parts of different sizes mostly want one order of weights: they share a copy.
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
  WeightOrigin origin_;
  std::vector<Part> parts_;
  std::vector<std::pair<std::shared_ptr<const OnednnConv>, int64_t>> packed_;  ///< kernel, place of its weights
  int64_t packed_bytes_ = 0;
  mutable Kept kept_;  ///< weights as they are packed
};

// Forward and data gradient where the weights are larger than all images: each part computes a slice of the channels it
// writes, of every image, and packs just the weights of its slice.
// Packing the weights is then most of the call, so that is what is shared out.
class Channels final : public ConvKernel {
 public:
  static std::unique_ptr<ConvKernel> make(ConvPass pass, const ConvShape& s, DType dtype, const ConvTensors& tensors) {
    const int64_t images = s.n * (s.c * s.in_pixels() + s.o * s.out_pixels());
    // With groups, a slice of the channels written reads other channels: left to Images.
    if (s.groups != 1 || s.weight_count() < images || s.weight_count() < kLeastWeights) return nullptr;
    auto made = std::make_unique<Channels>();
    made->forward_ = pass == ConvPass::kForward;
    made->shape_ = s, made->dtype_ = dtype, made->origin_ = WeightOrigin(tensors.weight, dtype);
    const int64_t channels = made->forward_ ? s.o : s.c, most = conv_parts("channels", pass, s, dtype, kParts);
    // Halved again only while a slice keeps whole blocks of channels: kernels pad a torn one.
    while (made->slices_ < most && channels % (made->slices_ * 2 * kBlock) == 0) made->slices_ *= 2;
    if (made->slices_ == 1) return nullptr;
    ConvShape part = s;
    (made->forward_ ? part.o : part.c) = made->width_ = channels / made->slices_;
    made->kernel_ = OnednnConv::get(pass, dtype, part, tensors.bias.defined(), made->origin_.layout);
    if (made->kernel_ == nullptr) return nullptr;
    return made;
  }

  void run(const ConvTensors& t, const Chain* after) const override {
    const bool pieces = after != nullptr && after->by_pieces();
    const int64_t rows = shape_.n * (forward_ ? shape_.out_pixels() : shape_.in_pixels());
    const Scratch<std::byte> dense(t.kept_weight ? 0 : origin_.room(t.weight));
    if (!t.kept_weight) origin_.load(t.weight, dense);
    std::byte* const kept =
        t.kept_weight ? kept_.of(t.weight.bytes(), slices_ * packed_bytes(), [&](std::byte* to) { pack_all(t, to); })
                      : nullptr;
    const Scratch<float> bias(t.bias.defined() ? shape_.o : 0);
    if (t.bias.defined()) {
      converter(t.bias.dtype, DType::kFloat)(t.bias.bytes(), t.bias.strides[0], bias.data(), 1, shape_.o);
    }
    const Tensor &from = forward_ ? t.src : t.dst, &to = forward_ ? t.dst : t.src;
    // All slices read the same images: they are laid out once, before the parts begin.
    const Laid in(from, dtype_);
    in.load();
    parallel_parts(slices_, [&](int64_t slice) {
      const int64_t first = slice * width_;
      const Scratch<std::byte> packed(kept != nullptr ? 0 : packed_bytes());
      // By the thread that is about to read them.
      if (kept == nullptr) pack(origin_.place(t.weight, dense), slice, packed);
      std::byte* const weights = kept != nullptr ? kept + slice * packed_bytes() : packed.data();
      // A slice of channels is not dense among the others: it is computed in scratch memory and put in its place.
      const Laid out(cube::narrow(to, 1, first, width_), dtype_);
      void *src = forward_ ? in.data() : out.data(), *dst = forward_ ? out.data() : in.data();
      kernel_->run(src, weights, t.bias.defined() ? bias + first : nullptr, dst);
      out.store();
      if (pieces) after->run_piece(first, rows, slices_ * width_, width_);
    });
    if (after != nullptr && !pieces) after->run();
  }

 private:
  int64_t packed_bytes() const { return static_cast<int64_t>((kernel_->weight_bytes() + 63) / 64 * 64); }  // of a slice

  void pack(const std::byte* weights, int64_t slice, std::byte* to) const {
    const int64_t first = slice * width_;
    const int64_t offset = forward_ ? origin_.offset(shape_, first) : origin_.offset(shape_, 0, first);
    kernel_->pack_weights(weights + offset * static_cast<int64_t>(size_of(dtype_)), to);
  }

  void pack_all(const ConvTensors& t, std::byte* to) const {
    const Scratch<std::byte> dense(origin_.room(t.weight));
    origin_.load(t.weight, dense);
    const std::byte* weights = origin_.place(t.weight, dense);
    parallel_parts(slices_, [&](int64_t slice) { pack(weights, slice, to + slice * packed_bytes()); });
  }

  static constexpr int64_t kLeastWeights = int64_t{1} << 17;  // what the second-level cache holds
  static constexpr int64_t kBlock = 32;                       // channels that kernels like to have together
  bool forward_ = true;
  ConvShape shape_;
  DType dtype_ = DType::kFloat;
  WeightOrigin origin_;
  int64_t slices_ = 1, width_ = 0;
  std::shared_ptr<const OnednnConv> kernel_;
  mutable Kept kept_;  ///< weights as they are packed, of all slices
};

// The gradient of weights is one sum over all images. oneDNN cuts it by the number of threads, which shows in its bits.
// Here groups of images are summed apart, as the sizes decide, and the sums added in the order of the groups.
class Weights final : public ConvKernel {
 public:
  static std::unique_ptr<ConvKernel> make(const ConvShape& s, DType dtype, const Tensor& weight) {
    auto made = std::make_unique<Weights>();
    made->shape_ = s, made->dtype_ = dtype, made->origin_ = WeightOrigin(weight, DType::kFloat);
    // Adding up a part costs about as much as a thousand pixels of work, so parts over images hold at least that.
    const int64_t parts = conv_parts("weights", ConvPass::kBackwardWeights, s, dtype, kParts);
    const int64_t wanted = std::clamp<int64_t>(s.work() / kPartWork, 1, parts);
    const int64_t most = std::clamp<int64_t>(s.n * s.out_pixels() / 1024, 1, std::min(wanted, s.n));
    made->images_ = divide_up(s.n, most);
    // Groups of one size, so that one kernel serves them all.
    while (s.n % made->images_ != 0) ++made->images_;
    // What parts are still missing are cut from the output channels, which takes no addition.
    while (s.groups == 1 && s.n / made->images_ * made->slices_ < wanted && s.o % (made->slices_ * 32) == 0) {
      made->slices_ *= 2;
    }
    ConvShape part = s;
    part.n = made->images_, part.o = s.o / made->slices_;
    made->kernel_ = OnednnConv::get(ConvPass::kBackwardWeights, dtype, part, false, made->origin_.layout);
    if (made->kernel_ == nullptr) return nullptr;
    return made;
  }

  void run(const ConvTensors& t, const Chain*) const override {
    const int64_t groups = shape_.n / images_;
    const Scratch<std::byte> dense(origin_.room(t.weight));
    auto* gradient = reinterpret_cast<float*>(origin_.place(t.weight, dense));
    // One group needs no addition: its sum leaves the kernel's order while it is in the cache.
    if (groups == 1) {
      parallel_parts(slices_, [&](int64_t slice) {
        const Scratch<float> sum(floats());
        compute(t, 0, slice, sum);
        unpack(sum, slice, gradient);
      });
    } else {
      const Scratch<float> sums(groups * slices_ * floats());
      parallel_parts(groups * slices_, [&](int64_t i) {
        const int64_t group = i / slices_, slice = i % slices_;
        compute(t, group, slice, sums + (slice * groups + group) * floats());
      });
      // Added in the kernel's own order, which for single elements is as good as any; the client's is made from the
      // total.
      parallel_parts(slices_, [&](int64_t slice) {
        add_up(sums + slice * groups * floats(), groups);
        unpack(sums + slice * groups * floats(), slice, gradient);
      });
    }
    origin_.store(dense, t.weight);
  }

 private:
  int64_t width() const { return shape_.o / slices_; }
  /// Room for one partial sum.
  int64_t floats() const { return static_cast<int64_t>((kernel_->weight_bytes() + 63) / 64 * 16); }

  // Images that are not channels-last are laid out anew for each slice.
  void compute(const ConvTensors& t, int64_t group, int64_t slice, float* sum) const {
    const auto piece = [&](const Tensor& images) { return cube::narrow(images, 0, group * images_, images_); };
    const Laid src(piece(t.src), dtype_), dst(cube::narrow(piece(t.dst), 1, slice * width(), width()), dtype_);
    src.load(), dst.load();
    kernel_->run(src.data(), sum, nullptr, dst.data());
  }

  // Group after group, never as they become ready.
  void add_up(float* sum, int64_t groups) const {
    const int64_t count = floats();  // oneDNN counts it anew whenever it is asked
    for (int64_t g = 1; g < groups; ++g) {
      const float* more = sum + g * count;
      for (int64_t i = 0; i < count; ++i) sum[i] += more[i];
    }
  }

  void unpack(const float* sum, int64_t slice, float* gradient) const {
    kernel_->unpack_gradient(sum, gradient + origin_.offset(shape_, slice * width()));
  }

  ConvShape shape_;
  DType dtype_ = DType::kFloat;
  WeightOrigin origin_;
  int64_t images_ = 1;  ///< of one part; divides the batch, so that one kernel serves all parts
  int64_t slices_ = 1;  ///< of the output channels
  std::shared_ptr<const OnednnConv> kernel_;
};

}  // namespace

std::unique_ptr<ConvKernel> make_tiled_conv(ConvPass pass, const ConvShape& shape, const ConvTensors& tensors) {
  // Work of 0 still has zeros to write, in the last way; float64 has no kernels here.
  if (conv_slot(tensors) != DType::kFloat || shape.work() == 0) return nullptr;
  const auto narrow = [](const Tensor& t) { return t.dtype == DType::kBFloat16; };
  const bool native =
      narrow(tensors.src) && narrow(tensors.weight) && narrow(tensors.dst) && cube::computes_natively(DType::kBFloat16);
  // Float16 is always widened: on most CPUs oneDNN has only reference code for its weight gradients.
  for (const DType dtype : {DType::kBFloat16, DType::kFloat}) {
    if (dtype == DType::kBFloat16 && !native) continue;
    if (pass == ConvPass::kBackwardWeights) {
      // Also with bfloat16 images: the sum is float32 and is rounded once, when it is stored.
      if (auto kernel = Weights::make(shape, dtype, tensors.weight)) return kernel;
      continue;
    }
    for (auto* make : {Channels::make, Images::make})
      if (auto kernel = make(pass, shape, dtype, tensors)) return kernel;
  }
  return nullptr;
}

}  // namespace npu::ops
