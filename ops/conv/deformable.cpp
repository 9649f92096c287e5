// SPDX-License-Identifier: Apache-2.0
// Deformable convolution, version 2: each element of the kernel reads the image at a place of its own, moved by an
// offset and weighted by a mask that the network learns. What they read is laid out as an image in which a plain
// convolution, as far apart as its kernel is large, does the rest.
// Offsets have three parts along their channels: how far each element moves along the width, along the height, and its
// mask; each part goes group by group, kernel element by kernel element.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/pooling/planes.h"
#include "ops/runner/call.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

using Ints = std::vector<int64_t>;

/// A place between four pixels; what lies outside the image counts nothing.
struct DeformedTap {
  int64_t y = 0, x = 0;  ///< the pixel above and before
  float fy = 0, fx = 0;  ///< how far behind it
  float mask = 0;
};

struct Deformed : Operator {
  Tensor x, offsets;
  Ints ksize, strides, pads, dilations;
  int64_t deformable_groups = 1;
  bool modulated = true;
  std::string data_format = "NCHW";

  int64_t cost() const override { return 2000 + 20 * places_ * std::max<int64_t>(1, images_ * channels_); }

 protected:
  /// The tensor with its channels second, however the client orders its axes.
  Tensor images_of(const Tensor& t) const {
    if (data_format == "NCHW") return t;
    return t.view({t.shape[0], t.shape[3], t.shape[1], t.shape[2]},
                  {t.strides[0], t.strides[3], t.strides[1], t.strides[2]});
  }
  void plan(const char* name, const Tensor& laid_out) {
    require(data_format == "NCHW" || data_format == "NHWC", "data_format is '{}'; use NCHW or NHWC", data_format);
    require(modulated, "modulated is false; only version 2, with masks, is supported: give masks of 1");
    require(x.rank() == 4 && offsets.rank() == 4 && laid_out.rank() == 4,
            "input is {}, offset is {}, {} is {}; all have 4 dimensions", x, offsets, name, laid_out);
    require(ksize.size() == 2 && strides.size() == 4 && pads.size() == 4 && dilations.size() == 4,
            "kernel_size, stride, padding and dilation have {}, {}, {} and {} numbers; give 2, 4, 4 and 4",
            ksize.size(), strides.size(), pads.size(), dilations.size());
    const size_t first = data_format == "NCHW" ? 2 : 1;
    for (size_t d = 0; d < 2; ++d) {
      axis_[d] = {ksize[d], strides[first + d], pads[2 * d], dilations[first + d]};
      require(axis_[d].kernel > 0 && axis_[d].stride > 0 && axis_[d].dilation > 0,
              "kernel_size, stride and dilation must be positive");
    }
    const Tensor image = images_of(x), moves = images_of(offsets), laid = images_of(laid_out);
    require(deformable_groups > 0 && image.shape[1] % deformable_groups == 0,
            "deformable_groups is {}, the image has {} channels; the channels must be a multiple", deformable_groups,
            image.shape[1]);
    images_ = image.shape[0], channels_ = image.shape[1], height_ = image.shape[2], width_ = image.shape[3];
    rows_ = out_size(0, height_, pads[0] + pads[1]), columns_ = out_size(1, width_, pads[2] + pads[3]);
    const int64_t elements = ksize[0] * ksize[1];
    require(moves.shape == Dims({images_, 3 * deformable_groups * elements, rows_, columns_}),
            "offset is {}, the arguments give {} images of {} x {} with {} channels", offsets, images_, rows_, columns_,
            3 * deformable_groups * elements);
    require(laid.shape == Dims({images_, channels_, rows_ * ksize[0], columns_ * ksize[1]}),
            "{} is {}, the arguments give {} images of {} x {} with {} channels", name, laid_out, images_,
            rows_ * ksize[0], columns_ * ksize[1], channels_);
    places_ = rows_ * columns_ * elements;
    image_ = Planes(image, 2, DType::kFloat, 1, false), moves_ = Planes(moves, 2, DType::kFloat, 1, false);
    laid_ = Planes(laid, 2, DType::kFloat, 1, false);
  }
  /// Where the kernel reads in image n, for a group: element by element, place by place.
  void find_taps(int64_t n, int64_t group, DeformedTap* taps) const {
    const int64_t elements = ksize[0] * ksize[1];
    parallel_parts(elements, [&](int64_t k) {
      const Scratch<std::byte> buffers(3 * moves_.buffer_bytes());
      PlaneView parts[3];
      for (int64_t p = 0; p < 3; ++p)
        parts[p] = moves_.load(offset_plane(n, p, group, k), buffers.data() + p * moves_.buffer_bytes());
      DeformedTap* to = taps + k * rows_ * columns_;
      for (int64_t r = 0; r < rows_; ++r) {
        for (int64_t c = 0; c < columns_; ++c) {
          const auto number = [&](int64_t p) {
            return static_cast<const float*>(parts[p].data)[r * parts[p].row + c * parts[p].pixel];
          };
          *to++ = tap(place(0, r, k / ksize[1]) + static_cast<double>(number(1)),
                      place(1, c, k % ksize[1]) + static_cast<double>(number(0)), number(2));
        }
      }
    });
  }
  int64_t offset_plane(int64_t n, int64_t part, int64_t group, int64_t k) const {
    const int64_t elements = ksize[0] * ksize[1];
    return ((n * 3 + part) * deformable_groups + group) * elements + k;
  }
  /// The four pixels of a place: body(pixel's row, column, its weight, slope along the height, along the width).
  template <class F>
  void corners(const DeformedTap& t, F&& body) const {
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t j = 0; j < 2; ++j) {
        const int64_t y = t.y + i, x_at = t.x + j;
        if (y < 0 || y >= height_ || x_at < 0 || x_at >= width_) continue;
        const float wy = i == 0 ? 1 - t.fy : t.fy, wx = j == 0 ? 1 - t.fx : t.fx;
        body(y, x_at, wy * wx, i == 0 ? -wx : wx, j == 0 ? -wy : wy);
      }
    }
  }
  /// Where place (r, c) of kernel element k lies in what is laid out.
  int64_t laid_at(const PlaneView& v, int64_t r, int64_t c, int64_t k) const {
    return (r * ksize[0] + k / ksize[1]) * v.row + (c * ksize[1] + k % ksize[1]) * v.pixel;
  }
  /// body(k, r, c, tap) for all places.
  template <class F>
  void each_place(const DeformedTap* taps, F&& body) const {
    for (int64_t k = 0; k < ksize[0] * ksize[1]; ++k) {
      for (int64_t r = 0; r < rows_; ++r) {
        for (int64_t c = 0; c < columns_; ++c) body(k, r, c, *taps++);
      }
    }
  }

  Planes image_, moves_, laid_;
  int64_t images_ = 0, channels_ = 0, height_ = 0, width_ = 0, rows_ = 0, columns_ = 0, places_ = 0;

 private:
  struct Axis {
    int64_t kernel = 1, stride = 1, pad = 0, dilation = 1;
  };
  int64_t out_size(size_t d, int64_t size, int64_t padding) const {
    const int64_t reach = axis_[d].dilation * (axis_[d].kernel - 1) + 1;
    require(size + padding >= reach, "the kernel reaches over {} pixels, the padded image has {}", reach,
            size + padding);
    return (size + padding - reach) / axis_[d].stride + 1;
  }
  double place(size_t d, int64_t out, int64_t k) const {
    return static_cast<double>(out * axis_[d].stride - axis_[d].pad + k * axis_[d].dilation);
  }
  // Far away nothing is read; a NaN reads nothing either, where it would name no pixel.
  DeformedTap tap(double y, double x_at, float mask) const {
    if (!(y > -1 && y < static_cast<double>(height_) && x_at > -1 && x_at < static_cast<double>(width_)))
      return {-2, -2, 0, 0, mask};
    const double top = std::floor(y), left = std::floor(x_at);
    return {static_cast<int64_t>(top), static_cast<int64_t>(left), static_cast<float>(y - top),
            static_cast<float>(x_at - left), mask};
  }
  Axis axis_[2];
};

struct DeformableOffsets final : Deformed {
  Tensor y;

  void prepare() override { plan("deform_out", y); }
  void run() override {
    const Scratch<DeformedTap> taps(places_);
    const int64_t each = channels_ / deformable_groups;
    for (int64_t part = 0; part < images_ * deformable_groups; ++part) {
      find_taps(part / deformable_groups, part % deformable_groups, taps);
      parallel_parts(each, [&](int64_t c) { lay_out(part * each + c, taps); });
    }
  }

 private:
  void lay_out(int64_t plane, const DeformedTap* taps) const {
    const Scratch<std::byte> buffer(image_.buffer_bytes() + laid_.buffer_bytes());
    std::byte* made = buffer.data() + image_.buffer_bytes();
    const PlaneView from = image_.load(plane, buffer), to = laid_.target(plane, made);
    const auto* pixels = static_cast<const float*>(from.data);
    each_place(taps, [&](int64_t k, int64_t r, int64_t c, const DeformedTap& tap) {
      float sum = 0;
      corners(tap, [&](int64_t py, int64_t px, float weight, float, float) {
        sum += weight * pixels[py * from.row + px * from.pixel];
      });
      static_cast<float*>(to.data)[laid_at(to, r, c, k)] = sum * tap.mask;
    });
    laid_.store(plane, made);
  }
};

struct DeformableOffsetsGrad final : Deformed {
  Tensor grad, grad_x, grad_offsets;

  void prepare() override {
    plan("grad", grad);
    require(grad_x.shape == x.shape && grad_offsets.shape == offsets.shape,
            "grad_input is {}, grad_offset {}; they have the shapes of input ({}) and offset ({})", grad_x,
            grad_offsets, x, offsets);
    to_x_ = Planes(images_of(grad_x), 2, DType::kFloat, 1, false);
    to_moves_ = Planes(images_of(grad_offsets), 2, DType::kFloat, 1, false);
  }
  void run() override {
    const Scratch<DeformedTap> taps(places_);
    const Scratch<float> sums(3 * places_);
    const int64_t each = channels_ / deformable_groups;
    for (int64_t part = 0; part < images_ * deformable_groups; ++part) {
      find_taps(part / deformable_groups, part % deformable_groups, taps);
      // A channel's own gradient is one part; those of the offsets add up channel by channel, places side by side.
      parallel_parts(each, [&](int64_t c) { to_image(part * each + c, taps); });
      std::fill_n(sums.data(), 3 * places_, 0.0f);
      for (int64_t c = 0; c < each; ++c) add_moves(part * each + c, taps, sums);
      store_moves(part / deformable_groups, part % deformable_groups, sums);
    }
  }

 private:
  void to_image(int64_t plane, const DeformedTap* taps) const {
    const Scratch<std::byte> buffer(laid_.buffer_bytes() + to_x_.buffer_bytes());
    std::byte* made = buffer.data() + laid_.buffer_bytes();
    const PlaneView from = laid_.load(plane, buffer), to = to_x_.target(plane, made);
    auto* pixels = static_cast<float*>(to.data);
    for (int64_t py = 0; py < height_; ++py) {
      for (int64_t px = 0; px < width_; ++px) pixels[py * to.row + px * to.pixel] = 0;
    }
    each_place(taps, [&](int64_t k, int64_t r, int64_t c, const DeformedTap& tap) {
      const float upper = static_cast<const float*>(from.data)[laid_at(from, r, c, k)] * tap.mask;
      corners(tap, [&](int64_t py, int64_t px, float weight, float, float) {
        pixels[py * to.row + px * to.pixel] += upper * weight;
      });
    });
    to_x_.store(plane, made);
  }
  // Three numbers for each place: along the width, along the height, of the mask.
  void add_moves(int64_t plane, const DeformedTap* taps, float* sums) const {
    const Scratch<std::byte> buffer(laid_.buffer_bytes() + image_.buffer_bytes());
    const PlaneView upper = laid_.load(plane, buffer);
    const PlaneView image = image_.load(plane, buffer.data() + laid_.buffer_bytes());
    const auto* pixels = static_cast<const float*>(image.data);
    parallel_for(places_, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t k = i / (rows_ * columns_), r = i / columns_ % rows_, c = i % columns_;
        const float g = static_cast<const float*>(upper.data)[laid_at(upper, r, c, k)];
        float value = 0, by_y = 0, by_x = 0;
        corners(taps[i], [&](int64_t py, int64_t px, float weight, float slope_y, float slope_x) {
          const float pixel = pixels[py * image.row + px * image.pixel];
          value += weight * pixel, by_y += slope_y * pixel, by_x += slope_x * pixel;
        });
        sums[3 * i] += g * taps[i].mask * by_x;
        sums[3 * i + 1] += g * taps[i].mask * by_y;
        sums[3 * i + 2] += g * value;
      }
    });
  }
  void store_moves(int64_t n, int64_t group, const float* sums) const {
    const int64_t size = rows_ * columns_;
    parallel_parts(3 * ksize[0] * ksize[1], [&](int64_t i) {
      const Scratch<std::byte> buffer(to_moves_.buffer_bytes());
      const int64_t k = i / 3, part = i % 3, plane = offset_plane(n, part, group, k);
      const PlaneView to = to_moves_.target(plane, buffer);
      for (int64_t p = 0; p < size; ++p)
        static_cast<float*>(to.data)[p / columns_ * to.row + p % columns_ * to.pixel] = sums[3 * (k * size + p) + part];
      to_moves_.store(plane, buffer);
    });
  }

  Planes to_x_, to_moves_;
};

#define NPU_DEFORMED(type)                                                                                        \
  in<&type::x>("x"), in<&type::offsets>("offsets"), attr<&type::ksize>("ksize"), attr<&type::strides>("strides"), \
      attr<&type::pads>("pads"), attr<&type::dilations>("dilations"),                                             \
      attr<&type::deformable_groups>("deformable_groups"), attr<&type::modulated>("modulated"),                   \
      attr<&type::data_format>("data_format")
NPU_OPERATOR(DeformableOffsets, "deformable_offsets", "conv", NPU_DEFORMED(DeformableOffsets),
             out<&DeformableOffsets::y>("y"));
NPU_OPERATOR(DeformableOffsetsGrad, "deformable_offsets_grad", "conv", in<&DeformableOffsetsGrad::grad>("grad"),
             NPU_DEFORMED(DeformableOffsetsGrad), out<&DeformableOffsetsGrad::grad_x>("grad_x"),
             out<&DeformableOffsetsGrad::grad_offsets>("grad_offsets"));

}  // namespace
}  // namespace npu::ops
