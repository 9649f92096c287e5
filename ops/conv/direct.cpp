// SPDX-License-Identifier: Apache-2.0
// Convolutions by the house's kernels (cube/panels.h). An output pixel is a row of a product whose columns are output
// channels: it reads one run of memory for each line of the kernel, of an image laid out channels last with the zeros
// that pad it. Part by part, images are laid out so while they are in the cache, and sums leave the registers for the
// client's own layout. The gradient of weights sums over pixels instead.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/division.h"
#include "base/thread_pool.h"
#include "ops/conv/kernel.h"
#include "ops/cube/channels_last.h"
#include "ops/cube/choices.h"
#include "ops/cube/panels.h"
#include "ops/kept.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/elementwise/transpose.h"

namespace npu::ops {
namespace {

using cube::ConvPass;
using cube::ConvShape;
using cube::kX;
using cube::kY;

constexpr int64_t kParts = 16;                       // a constant: bits do not follow threads
constexpr int64_t kPartWork = int64_t{1} << 20;      // multiply-adds that pay for another part
constexpr int64_t kPartElements = int64_t{1} << 17;  // of an image's block: it should stay in the second-level cache
constexpr int64_t kLeastLines = 4;                   // of a block: neighbours both lay out the lines between them
constexpr int64_t kLeastChannels = 16;               // a vector; fewer are left to kernels for few channels

// The two spatial axes.

// The forward pass.
class DirectImages final : public ConvKernel {
 public:
  static std::unique_ptr<ConvKernel> make(const ConvShape& s, DType dtype) {
    if (s.pad[kY] < 0 || s.pad[kX] < 0) return nullptr;  // which crops
    auto made = std::make_unique<DirectImages>();
    made->shape_ = s, made->dtype_ = dtype;
    made->element_ = static_cast<int64_t>(size_of(dtype));
    made->words_ = divide_up(s.c, cube::word_of(dtype));
    made->taps_ = ConvShape::product(s.kernel);
    const int64_t reads = (s.out[kX] - 1) * s.stride[kX] + (s.kernel[kX] - 1) * s.dilation[kX] + 1;
    made->line_ = std::max(s.pad[kX] + s.in[kX], reads) * made->words_;
    made->plan_parts();
    return made;
  }

  void run(const ConvTensors& t, const Chain* after) const override {
    const bool pieces = after != nullptr && after->by_pieces();
    const int64_t words = panel_words() * divide_up(shape_.o, cube::kPanel);
    const Scratch<uint32_t> room(t.kept_weight ? 0 : words);
    const uint32_t* const panels = t.kept_weight ? kept_panels(t.weight, words) : room.data();
    if (!t.kept_weight) order_weights(t.weight, room.data());
    const Scratch<float> bias(t.bias.defined() ? shape_.o : 0);
    if (t.bias.defined())
      converter(t.bias.dtype, DType::kFloat)(t.bias.bytes(), t.bias.strides[0], bias.data(), 1, shape_.o);
    parallel_parts(divide_up(shape_.n, images_) * blocks_ * slices_, [&](int64_t part) {
      const Part p = part_of(part);
      if (p.channels <= 0) return;
      run_part(t, p, panels, t.bias.defined() ? bias.data() : nullptr);
      if (pieces) finish_part(p, *after);
    });
    if (after != nullptr && !pieces) after->run();
  }

 private:
  // Images [n, n + images), lines [begin, end) and some channels of the result.
  struct Part {
    int64_t n, images, begin, end, channel, channels;
  };

  // Small images go together, so that a line of them all fills the registers; large ones go in blocks of lines that
  // the cache holds. Where that gives too few parts, each computes a slice of the channels.
  void plan_parts() {
    const ConvShape& s = shape_;
    const int64_t parts = conv_parts("direct", ConvPass::kForward, s, dtype_, kParts);
    const int64_t wanted = std::clamp<int64_t>(s.work() / kPartWork, 1, parts);
    const int64_t image = s.in[kY] * line_ * cube::word_of(dtype_);
    if (s.out[kX] <= cube::kMostRows / 2) images_ = std::min(s.n, divide_up(cube::kMostRows, s.out[kX]));
    const int64_t groups = divide_up(s.n, images_);
    blocks_ = std::max(divide_up(wanted, groups), divide_up(image * images_, kPartElements));
    blocks_ = std::clamp<int64_t>(blocks_, 1, std::max<int64_t>(1, s.out[kY] / kLeastLines));
    while (groups * blocks_ * slices_ < wanted && s.o / slices_ >= 4 * cube::kPanel) slices_ *= 2;
  }

  Part part_of(int64_t index) const {
    const int64_t n = index / (blocks_ * slices_) * images_, block = index / slices_ % blocks_;
    const int64_t wide = divide_up(divide_up(shape_.o, cube::kPanel), slices_) * cube::kPanel;
    const int64_t channel = index % slices_ * wide, lines = shape_.out[kY];
    return {.n = n,
            .images = std::min(images_, shape_.n - n),
            .begin = lines * block / blocks_,
            .end = lines * (block + 1) / blocks_,
            .channel = channel,
            .channels = std::min(wide, shape_.o - channel)};
  }

  int64_t panel_words() const { return taps_ * words_ * cube::kPanel; }

  const uint32_t* kept_panels(const Tensor& weight, int64_t words) const {
    return reinterpret_cast<const uint32_t*>(
        kept_.of(weight.bytes(), words * static_cast<int64_t>(sizeof(uint32_t)),
                 [&](std::byte* to) { order_weights(weight, reinterpret_cast<uint32_t*>(to)); }));
  }

  // Panels of output channels, a tap after the other.
  void order_weights(const Tensor& weight, uint32_t* to) const {
    const auto found = weight_layout(weight);
    const Scratch<std::byte> room(found.has_value() ? 0 : weight.count() * element_);
    if (!found.has_value()) to_dense(weight, dtype_, room.data());
    const std::byte* data = found.has_value() ? weight.bytes() : room.data();
    const ConvShape& s = shape_;
    const auto order = found.has_value() ? found->order : cube::WeightOrder::kRows;
    const bool last = order == cube::WeightOrder::kInputsLast;
    if (order == cube::WeightOrder::kRows && taps_ > 1) {
      std::vector<int64_t> rows(static_cast<size_t>(taps_));
      for (int64_t t = 0; t < taps_; ++t) rows[static_cast<size_t>(t)] = t * words_;
      cube::order_right({dtype_, data, taps_, s.c * taps_, rows.data(), taps_, s.c, s.o}, panel_words(), to);
      return;
    }
    // Channels follow each other here: of the inputs, or of the outputs as in TensorFlow's filters.
    for (int64_t t = 0; t < taps_; ++t) {
      const bool outputs_last = order == cube::WeightOrder::kOutputsLast;
      const std::byte* tap = data + t * (outputs_last ? s.c * s.o : last ? s.c : 1) * element_;
      cube::order_right({dtype_, tap, outputs_last ? s.o : s.c * taps_, !outputs_last, s.c, s.o}, panel_words(), true,
                        to + t * words_ * cube::kPanel);
    }
  }

  // Lines [begin, end) of an image, from `begin` on, with what pads their sides.
  void lay_out(const Tensor& images, int64_t n, int64_t begin, int64_t end, uint32_t* to) const {
    const int64_t left = shape_.pad[kX] * words_, inside = images.shape[3] * words_;
    for (int64_t y = begin; y < end; ++y, to += line_) {
      std::fill_n(to, left, 0u);
      lay_out_line(images, images.bytes() + (n * images.strides[0] + y * images.strides[2]) * element_, to + left);
      std::fill_n(to + left + inside, line_ - left - inside, 0u);
    }
  }

  void lay_out_line(const Tensor& images, const std::byte* from, uint32_t* to) const {
    const int64_t pixels = images.shape[3], bytes = shape_.c * element_;
    if (images.strides[3] == 1 && shape_.c > 1)
      return cube::gather_pixels(dtype_, from, images.strides[1], shape_.c, pixels, to, words_);
    if (images.strides[1] == 1 && images.strides[3] == shape_.c && bytes == 4 * words_) {
      std::memcpy(to, from, static_cast<size_t>(pixels * bytes));
      return;
    }
    const Convert copy = converter(dtype_, dtype_);
    for (int64_t p = 0; p < pixels; ++p, to += words_) {
      to[words_ - 1] = 0;
      copy(from + p * images.strides[3] * element_, images.strides[1], to, 1, shape_.c);
    }
  }

  void run_part(const ConvTensors& t, const Part& part, const uint32_t* panels, const float* bias) const {
    const ConvShape& s = shape_;
    // The image's lines that these read: those that would lie outside are skipped, not laid out.
    const int64_t reach = (s.kernel[kY] - 1) * s.dilation[kY];
    const int64_t begin = std::clamp<int64_t>(part.begin * s.stride[kY] - s.pad[kY], 0, s.in[kY]);
    const int64_t end = std::clamp<int64_t>((part.end - 1) * s.stride[kY] - s.pad[kY] + reach + 1, begin, s.in[kY]);
    const int64_t image = (end - begin) * line_;
    const Scratch<uint32_t> room(part.images * image);
    for (int64_t i = 0; i < part.images; ++i) lay_out(t.src, part.n + i, begin, end, room + i * image);
    const Steps steps(*this, part.begin, part.end, begin);
    const Tensor& out = t.dst;
    const int64_t first = part.n * out.strides[0] + part.channel * out.strides[1] + part.begin * out.strides[2];
    cube::direct_block({.dtype = dtype_,
                        .a = room.data(),
                        .pixel = s.stride[kX] * words_,
                        .image = image,
                        .b = panels + part.channel / cube::kPanel * panel_words(),
                        .panel = panel_words(),
                        .runs = steps.runs(),
                        .lines = steps.lines(),
                        .images = part.images,
                        .height = part.end - part.begin,
                        .width = s.out[kX],
                        .channels = part.channels,
                        .out = out.bytes() + first * element_,
                        .out_pixel = out.strides[3],
                        .out_line = out.strides[2],
                        .out_image = out.strides[0],
                        .out_channel = out.strides[1],
                        .bias = bias == nullptr ? nullptr : bias + part.channel});
  }

  // Where the runs of each line begin: one for each line of the kernel, or for each tap where they lie apart. Lines of
  // the kernel that would read nothing but zeros are left out.
  class Steps {
   public:
    Steps(const DirectImages& d, int64_t begin, int64_t end, int64_t first) {
      const ConvShape& s = d.shape_;
      const int64_t joined = s.dilation[kX] == 1 ? s.kernel[kX] : 1;
      run_ = joined * d.words_;
      for (int64_t y = begin; y < end; ++y) {
        lines_.push_back(static_cast<int64_t>(a_.size()));
        for (int64_t ky = 0; ky < s.kernel[kY]; ++ky) {
          const int64_t in = y * s.stride[kY] - s.pad[kY] + ky * s.dilation[kY];
          if (in < 0 || in >= s.in[kY]) continue;
          for (int64_t kx = 0; kx < s.kernel[kX]; kx += joined) {
            a_.push_back((in - first) * d.line_ + kx * s.dilation[kX] * d.words_);
            b_.push_back((ky * s.kernel[kX] + kx) * d.words_ * cube::kPanel);
          }
        }
      }
      lines_.push_back(static_cast<int64_t>(a_.size()));
    }
    cube::Runs runs() const { return {a_.data(), b_.data(), static_cast<int64_t>(a_.size()), run_}; }
    const int64_t* lines() const { return lines_.data(); }

   private:
    std::vector<int64_t> a_, b_, lines_;
    int64_t run_;
  };

  void finish_part(const Part& part, const Chain& after) const {
    const int64_t pixels = shape_.out_pixels(), line = shape_.out[kX];
    for (int64_t n = part.n; n < part.n + part.images; ++n) {
      after.run_piece((n * pixels + part.begin * line) * shape_.o + part.channel, (part.end - part.begin) * line,
                      shape_.o, part.channels);
    }
  }

  ConvShape shape_;
  DType dtype_ = DType::kFloat;
  int64_t element_ = 4;                           // bytes
  int64_t taps_ = 1, words_ = 0, line_ = 0;       ///< words of a pixel and of a line that are read
  int64_t images_ = 1, blocks_ = 1, slices_ = 1;  ///< images of a part; blocks of lines and slices of channels of each
  mutable Kept kept_;                             ///< weights in panels
};

// The gradient of weights: for each tap, outputs times inputs, summed over pixels. The gradient of outputs is read as
// rows of pixels, the images are put into panels of 32 channels: word j of a line's panel holds the pixels that output
// pixels 2 j and 2 j + 1 read by one tap. Taps whose pixels begin a whole word apart share panels.
class DirectWeights final : public ConvKernel {
 public:
  static std::unique_ptr<ConvKernel> make(const ConvShape& s, DType dtype) {
    if (s.pad[kY] < 0 || s.pad[kX] < 0) return nullptr;  // which crops
    auto made = std::make_unique<DirectWeights>();
    made->shape_ = s, made->dtype_ = dtype, made->element_ = static_cast<int64_t>(size_of(dtype));
    made->taps_ = ConvShape::product(s.kernel);
    made->panels_ = divide_up(s.c, cube::kPanel);
    made->plan_versions();
    const int64_t parts = conv_parts("direct", ConvPass::kBackwardWeights, s, dtype, kParts / 2);
    const int64_t few = std::min(divide_up(parts, made->panels_), divide_up(s.o, 4));
    made->cuts_ = std::max(divide_up(s.o, cube::kMostRows), few);
    made->tall_ = divide_up(s.o, made->cuts_);
    made->cuts_ = divide_up(s.o, made->tall_);
    const int64_t image = made->versions() * s.in[kY] * made->words_ * cube::kPanel;
    made->images_ = std::clamp<int64_t>(kGroupWords / (image * made->panels_), 1, s.n);
    return made;
  }

  void run(const ConvTensors& t, const Chain*) const override {
    const ConvShape& s = shape_;
    const int64_t lines = s.out[kY], tile = taps_ * tall_ * cube::kPanel;
    const bool in_place = reads_in_place(t.dst);
    const Scratch<uint32_t> panels(panels_ * panel_words());
    const Scratch<uint32_t> rows(in_place ? 0 : images_ * s.o * lines * line_);
    const Scratch<float> sums(cuts_ * panels_ * tile);
    for (int64_t n = 0; n < s.n; n += images_) {
      const int64_t images = std::min(images_, s.n - n);
      parallel_parts(images * panels_, [&](int64_t i) {
        const int64_t panel = i % panels_, image = i / panels_;
        order_image(t.src, n + image, panel, image, panels + panel * panel_words());
      });
      if (!in_place)
        parallel_parts(images, [&](int64_t i) { lay_out_rows(t.dst, n + i, rows + i * s.o * lines * line_); });
      const int64_t per_word = cube::word_of(dtype_);
      const std::byte* first =
          in_place ? t.dst.bytes() + n * t.dst.strides[0] * element_ : reinterpret_cast<const std::byte*>(rows.data());
      const Left left{first, in_place ? t.dst.strides[1] / per_word : lines * line_,
                      in_place ? t.dst.strides[0] / per_word : s.o * lines * line_};
      parallel_parts(cuts_ * panels_, [&](int64_t part) {
        add_up(left, part / panels_ * tall_, panels + part % panels_ * panel_words(), part % panels_, images, n > 0,
               sums + part * tile);
      });
    }
    store(t.weight, sums);
  }

 private:
  static constexpr int64_t kGroupWords = int64_t{1} << 22;  // of panels at a time: what the last cache holds
  static constexpr int64_t kChunkWords = 768;               // of a row at a time: all taps read it while it is near

  // Rows of outputs, as words: where the first one is, and the steps to the next output and image.
  struct Left {
    const std::byte* data;
    int64_t row, image;
  };
  struct Version {
    int64_t phase, first;  ///< pixels phase + stride * (first + i)
  };
  struct Tap {
    size_t version;
    int64_t shift;  ///< words
  };

  int64_t versions() const { return static_cast<int64_t>(versions_.size()); }
  int64_t panel_words() const { return versions() * images_ * shape_.in[kY] * words_ * cube::kPanel; }

  void plan_versions() {
    const ConvShape& s = shape_;
    const int64_t per_word = cube::word_of(dtype_), stride = s.stride[kX];
    line_ = divide_up(s.out[kX], per_word);
    whole_ = s.out[kX] % per_word == 0;
    for (int64_t k = 0; k < s.kernel[kX]; ++k) {
      const int64_t at = k * s.dilation[kX], begin = at / stride;
      // A word that is half a pixel too long must hold a zero there, and is no one else's.
      const Version wanted{at % stride, whole_ ? begin % per_word : begin};
      size_t found = 0;
      while (found < versions_.size() &&
             (!whole_ || versions_[found].phase != wanted.phase || versions_[found].first != wanted.first))
        ++found;
      if (found == versions_.size()) versions_.push_back(wanted);
      columns_.push_back({found, whole_ ? begin / per_word : 0});
      words_ = std::max(words_, columns_.back().shift + line_);
    }
  }

  bool reads_in_place(const Tensor& dst) const {
    const int64_t per_word = cube::word_of(dtype_);
    return whole_ && dst.strides[3] == 1 && dst.strides[2] == shape_.out[kX] && dst.strides[1] % per_word == 0 &&
           dst.strides[0] % per_word == 0;
  }

  // Outputs of an image as [o][line][pixel], lines of whole words.
  void lay_out_rows(const Tensor& dst, int64_t n, uint32_t* to) const {
    const ConvShape& s = shape_;
    const int64_t row = line_ * cube::word_of(dtype_) * s.out[kY];
    const Convert copy = converter(dtype_, dtype_);
    auto* numbers = reinterpret_cast<std::byte*>(to);
    if (!whole_) std::memset(numbers, 0, static_cast<size_t>(s.o * row * element_));
    for (int64_t y = 0; y < s.out[kY]; ++y) {
      const std::byte* from = dst.bytes() + (n * dst.strides[0] + y * dst.strides[2]) * element_;
      std::byte* line = numbers + y * line_ * cube::word_of(dtype_) * element_;
      if (dst.strides[1] == 1 && s.o > 1) {
        transpose(from, dst.strides[3], s.out[kX], s.o, element_, line, row);
        continue;
      }
      for (int64_t o = 0; o < s.o; ++o)
        copy(from + o * dst.strides[1] * element_, dst.strides[3], line + o * row * element_, 1, s.out[kX]);
    }
  }

  // The channels of one panel, of an image, in all versions.
  void order_image(const Tensor& src, int64_t n, int64_t panel, int64_t image, uint32_t* to) const {
    const ConvShape& s = shape_;
    const int64_t stride = s.stride[kX], channel = panel * cube::kPanel;
    const int64_t channels = std::min(cube::kPanel, s.c - channel);
    // A line of each channel with the zeros that pad it, and those of its pixels that outputs in turn read.
    const int64_t reach =
        std::max(s.pad[kX] + s.in[kX], stride * (words_ + 1) * cube::word_of(dtype_) + s.kernel[kX] * s.dilation[kX]);
    const int64_t apart = divide_up(reach, stride);
    const Scratch<std::byte> room(cube::kPanel * (reach + (stride > 1 ? apart : 0)) * element_);
    std::byte* const padded = room.data();
    std::memset(padded, 0, static_cast<size_t>(channels * reach * element_));
    const Convert copy = converter(dtype_, dtype_);
    for (int64_t y = 0; y < s.in[kY]; ++y) {
      const std::byte* from =
          src.bytes() + (n * src.strides[0] + channel * src.strides[1] + y * src.strides[2]) * element_;
      std::byte* inside = padded + s.pad[kX] * element_;
      if (src.strides[1] == 1 && channels > 1) {
        transpose(from, src.strides[3], s.in[kX], channels, element_, inside, reach);
      } else {
        for (int64_t c = 0; c < channels; ++c)
          copy(from + c * src.strides[1] * element_, src.strides[3], inside + c * reach * element_, 1, s.in[kX]);
      }
      for (int64_t v = 0; v < versions(); ++v) {
        const Version& version = versions_[static_cast<size_t>(v)];
        const std::byte* numbers = padded;
        int64_t ld = reach;
        if (stride > 1) {
          std::byte* picked = padded + cube::kPanel * reach * element_;
          for (int64_t c = 0; c < channels; ++c) {
            const int64_t count = divide_up(reach - version.phase, stride);
            copy(padded + (c * reach + version.phase) * element_, stride, picked + c * apart * element_, 1, count);
            std::memset(picked + (c * apart + count) * element_, 0, static_cast<size_t>((apart - count) * element_));
          }
          numbers = picked, ld = apart;
        }
        const int64_t k = whole_ ? words_ * cube::word_of(dtype_) : s.out[kX];
        cube::order_right({dtype_, numbers + version.first * element_, ld, true, k, channels}, 0, false,
                          to + ((v * images_ + image) * s.in[kY] + y) * words_ * cube::kPanel);
      }
    }
  }

  // All taps of some outputs and a panel of inputs, chunk by chunk of the lines of these images.
  void add_up(const Left& left, int64_t output, const uint32_t* panels, int64_t panel, int64_t images, bool add,
              float* sums) const {
    const ConvShape& s = shape_;
    const int64_t rows = std::min(tall_, s.o - output), lines = images * s.out[kY];
    const int64_t channels = std::min(cube::kPanel, s.c - panel * cube::kPanel);
    const int64_t chunk = std::max<int64_t>(1, kChunkWords / line_);
    std::vector<int64_t> a(static_cast<size_t>(chunk)), b(static_cast<size_t>(chunk));
    for (int64_t begin = 0; begin < lines; begin += chunk) {
      for (int64_t ky = 0; ky < s.kernel[kY]; ++ky) {
        int64_t steps = 0;
        for (int64_t i = begin; i < std::min(lines, begin + chunk); ++i) {
          const int64_t n = i / s.out[kY], y = i % s.out[kY];
          const int64_t in = y * s.stride[kY] + ky * s.dilation[kY] - s.pad[kY];
          if (in < 0 || in >= s.in[kY]) continue;
          a[static_cast<size_t>(steps)] = n * left.image + y * line_;
          b[static_cast<size_t>(steps++)] = (n * s.in[kY] + in) * words_ * cube::kPanel;
        }
        for (int64_t kx = 0; kx < s.kernel[kX]; ++kx) {
          const Tap& tap = columns_[static_cast<size_t>(kx)];
          const int64_t version = static_cast<int64_t>(tap.version) * images_ * s.in[kY] * words_;
          cube::direct_sums({.dtype = dtype_,
                             .a = left.data + output * left.row * 4,
                             .row = left.row,
                             .b = panels + (version + tap.shift) * cube::kPanel,
                             .runs = {a.data(), b.data(), steps, line_},
                             .rows = rows,
                             .cols = channels,
                             .c = sums + (ky * s.kernel[kX] + kx) * tall_ * cube::kPanel,
                             .ldc = cube::kPanel,
                             .add = add || begin > 0});
        }
      }
    }
  }

  // [cut][panel][tap][output][input] to the client's order.
  void store(const Tensor& weight, const float* sums) const {
    const ConvShape& s = shape_;
    const bool dense = weight.contiguous();
    const Scratch<float> room(dense ? 0 : weight.count());
    const Convert convert = converter(DType::kFloat, dense ? weight.dtype : DType::kFloat);
    const auto bytes = static_cast<int64_t>(dense ? size_of(weight.dtype) : sizeof(float));
    auto* to = dense ? weight.bytes() : reinterpret_cast<std::byte*>(room.data());
    const int64_t tile = taps_ * tall_ * cube::kPanel;
    parallel_parts(cuts_ * panels_, [&](int64_t part) {
      const int64_t output = part / panels_ * tall_, channel = part % panels_ * cube::kPanel;
      const int64_t channels = std::min(cube::kPanel, s.c - channel);
      const Scratch<float> turned(channels * taps_);
      for (int64_t r = 0; r < std::min(tall_, s.o - output); ++r) {
        transpose(sums + part * tile + r * cube::kPanel, tall_ * cube::kPanel, taps_, channels, 4, turned.data(),
                  taps_);
        convert(turned.data(), 1, to + ((output + r) * s.c + channel) * taps_ * bytes, 1, channels * taps_);
      }
    });
    if (!dense) from_dense(room.data(), DType::kFloat, weight);
  }

  ConvShape shape_;
  DType dtype_ = DType::kFloat;
  int64_t element_ = 4;
  int64_t taps_ = 0, panels_ = 0;
  std::vector<Version> versions_;
  std::vector<Tap> columns_;      ///< of each column of the kernel
  int64_t words_ = 0, line_ = 0;  ///< of a line in panels, and of a line of outputs
  bool whole_ = true;             ///< a line of outputs fills its words
  int64_t cuts_ = 1, tall_ = 1;   ///< parts of the outputs, and outputs of each
  int64_t images_ = 1;            ///< whose panels are made at a time
};

bool wins(ConvPass pass, const ConvShape& s, DType dtype) {
  const auto work = pass == ConvPass::kForward ? cube::Work::kConvForward : cube::Work::kConvBackwardWeights;
  const bool strided = std::max(s.stride[kY], s.stride[kX]) > 1;
  return cube::takes_own({work, dtype, strided, s.weight_count(), s.n * s.out_pixels()});
}

}  // namespace

std::unique_ptr<ConvKernel> make_direct_kernel(ConvPass pass, const ConvShape& shape, const ConvTensors& t) {
  if (shape.groups != 1 || shape.rank != 2 || shape.work() == 0 || pass == ConvPass::kBackwardData) return nullptr;
  const DType dtype = t.src.dtype;
  if (t.weight.dtype != dtype || t.dst.dtype != dtype || !cube::has_panels(dtype)) return nullptr;
  if (dtype == DType::kBFloat16 && !cube::computes_natively(dtype)) return nullptr;
  if (conv_slot(t) != DType::kFloat || std::min(shape.c, shape.o) < kLeastChannels) return nullptr;
  return pass == ConvPass::kForward ? DirectImages::make(shape, dtype) : DirectWeights::make(shape, dtype);
}

std::unique_ptr<ConvKernel> make_direct_conv(ConvPass pass, const ConvShape& shape, const ConvTensors& t) {
  if (pass == ConvPass::kBackwardData || kept_ways_win(pass, shape, t) || !wins(pass, shape, t.src.dtype))
    return nullptr;
  return make_direct_kernel(pass, shape, t);
}

}  // namespace npu::ops
