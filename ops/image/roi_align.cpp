// SPDX-License-Identifier: Apache-2.0
// Regions of feature maps, each pooled to one size: an output is the mean of points in its part of the region, sampled
// between the pixels. Regions are [image, x0, y0, x1, y1] in the original's pixels.
// roi_end_mode: 0 regions are one pixel of the map at least (the first published detectors); 1 the last pixel belongs
// to the region; 3 pixels are half a pixel off, so that their centres are sampled (torchvision's `aligned`).
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/operator.h"
#include "ops/pooling/planes.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

constexpr int64_t kRoiNumbers = 5;

/// A sampled coordinate: the pixels before and behind it and what each counts; both 0 outside of the map.
struct RoiTap {
  int64_t low = 0, high = 0;
  float low_weight = 0, high_weight = 0;
};

/// One axis of a region: `grid` samples for each of its outputs.
struct RoiAxis {
  int64_t grid = 1;
  std::vector<RoiTap> taps;
};

struct Roi {
  int64_t image = 0;
  RoiAxis y, x;
  /// What each sample counts in the mean of its output.
  float share() const { return 1.0f / static_cast<float>(std::max<int64_t>(1, y.grid * x.grid)); }
};

RoiTap roi_tap(double at, int64_t size) {
  // Up to a pixel outside the map its border is read; further out there is nothing.
  if (!(at >= -1 && at <= static_cast<double>(size))) return {};
  at = std::max(at, 0.0);
  const int64_t low = std::min(static_cast<int64_t>(at), size - 1);
  const auto far = static_cast<float>(low == size - 1 ? 0 : at - static_cast<double>(low));
  return {low, std::min(low + 1, size - 1), 1 - far, far};
}

struct RoiPool : Operator {
  Tensor rois;
  double spatial_scale = 1;
  int64_t pooled_height = 1, pooled_width = 1, sample_num = 2, roi_end_mode = 1;

  int64_t cost() const override { return 2000 + 16 * outputs_ * std::max<int64_t>(1, sample_num * sample_num); }

 protected:
  void plan(const char* map_name, const Tensor& map, const char* pooled_name, const Tensor& pooled) {
    require(map.rank() == 4, "{} is {}; it must have 4 dimensions", map_name, map);
    require(rois.rank() == 2 && rois.shape[1] == kRoiNumbers && is_floating(rois.dtype),
            "rois is {}; it must be [regions, 5] in a floating type: the image's number, x0, y0, x1, y1", rois);
    require(pooled_height > 0 && pooled_width > 0 && sample_num >= 0,
            "pooled_height is {}, pooled_width {}, sample_num {}; sizes are positive, sample_num 0 or more",
            pooled_height, pooled_width, sample_num);
    require(roi_end_mode == 0 || roi_end_mode == 1 || roi_end_mode == 3,
            "roi_end_mode is {}; use 0, 1 (the last pixel belongs to a region) or 3 (aligned)", roi_end_mode);
    const Dims wanted{rois.shape[0], map.shape[1], pooled_height, pooled_width};
    require(pooled.shape == wanted, "{} is {}, the arguments give {}", pooled_name, pooled, wanted);
    require(map.shape[2] > 0 && map.shape[3] > 0, "{} is {}: the image axes must not be empty", map_name, map);
    outputs_ = pooled.count();
    slot_ = pool_slot(map_name, map);
    map_ = Planes(map, 2, slot_, 1, false), pooled_ = Planes(pooled, 2, slot_, 1, false);
    images_ = map.shape[0], channels_ = map.shape[1], height_ = map.shape[2], width_ = map.shape[3];
    numbers_ = OrderedTensor(rois, DType::kDouble);
  }
  /// The regions of each image, in their order, so that what they add up does not depend on threads.
  std::vector<std::vector<std::pair<int64_t, Roi>>> regions() const {
    std::vector<double> numbers(static_cast<size_t>(numbers_.count()));
    numbers_.load(0, numbers_.count(), numbers.data());
    std::vector<std::vector<std::pair<int64_t, Roi>>> found(static_cast<size_t>(images_));
    for (int64_t i = 0; i < rois.shape[0]; ++i) {
      const double* n = numbers.data() + i * kRoiNumbers;
      require(n[0] >= 0 && n[0] < static_cast<double>(images_), "rois[{}] is of image {}; there are {} images", i, n[0],
              images_);
      const auto image = static_cast<int64_t>(n[0]);
      const RoiAxis y = axis(n[2], n[4], pooled_height, height_), x = axis(n[1], n[3], pooled_width, width_);
      found[static_cast<size_t>(image)].push_back({i, {image, y, x}});
    }
    return found;
  }
  /// Calls body(output's row, column, pixel's row and column and weight) for all that a region takes from its map.
  template <class F>
  void each_tap(const Roi& roi, F&& body) const {
    const float share = roi.share();
    for (int64_t row = 0; row < pooled_height * roi.y.grid; ++row) {
      const RoiTap& y = roi.y.taps[static_cast<size_t>(row)];
      for (int64_t column = 0; column < pooled_width * roi.x.grid; ++column) {
        const RoiTap& x = roi.x.taps[static_cast<size_t>(column)];
        const int64_t out_row = row / roi.y.grid, out_column = column / roi.x.grid;
        body(out_row, out_column, y.low, x.low, y.low_weight * x.low_weight * share);
        body(out_row, out_column, y.low, x.high, y.low_weight * x.high_weight * share);
        body(out_row, out_column, y.high, x.low, y.high_weight * x.low_weight * share);
        body(out_row, out_column, y.high, x.high, y.high_weight * x.high_weight * share);
      }
    }
  }
  template <class F>
  void in_slot(F&& body) const {
    slot_ == DType::kDouble ? body(double{}) : body(float{});
  }

  Planes map_, pooled_;
  OrderedTensor numbers_;
  DType slot_ = DType::kFloat;
  int64_t images_ = 0, channels_ = 0, height_ = 0, width_ = 0, outputs_ = 0;

 private:
  RoiAxis axis(double begin, double end, int64_t outputs, int64_t size) const {
    const double start = begin * spatial_scale - (roi_end_mode == 3 ? 0.5 : 0);
    const double stop = (end + (roi_end_mode == 1 ? 1 : 0)) * spatial_scale - (roi_end_mode == 3 ? 0.5 : 0);
    double length = stop - start;
    if (roi_end_mode == 0) length = std::max(length, 1.0);
    const double bin = length / static_cast<double>(outputs);
    // Without a number, one sample for each pixel of the map. No region has more samples than the map is long.
    const double pixels = std::min(std::ceil(bin), static_cast<double>(size) + 2);
    RoiAxis made{sample_num > 0 ? sample_num : std::max<int64_t>(0, static_cast<int64_t>(pixels)), {}};
    for (int64_t i = 0; i < outputs * made.grid; ++i) {
      const double part = (static_cast<double>(i % made.grid) + 0.5) / static_cast<double>(made.grid);
      made.taps.push_back(roi_tap(start + (static_cast<double>(i / made.grid) + part) * bin, size));
    }
    return made;
  }
};

struct RoiAlign final : RoiPool {
  Tensor features, out;

  void prepare() override { plan("features", features, "out", out); }
  void run() override {
    const auto by_image = regions();
    // A map is widened once and serves all regions of its image.
    parallel_parts(images_ * channels_, [&](int64_t part) {
      const auto& members = by_image[static_cast<size_t>(part / channels_)];
      if (members.empty()) return;
      const Scratch<std::byte> buffer(map_.buffer_bytes() + pooled_.buffer_bytes());
      std::byte* made = buffer.data() + map_.buffer_bytes();
      const PlaneView map = map_.load(part, buffer);
      for (const auto& [index, roi] : members) {
        const int64_t target = index * channels_ + part % channels_;
        const PlaneView to = pooled_.target(target, made);
        in_slot([&, &region = roi](auto t) { pool(map, to, region, t); });
        pooled_.store(target, made);
      }
    });
  }

 private:
  template <class T>
  void pool(const PlaneView& map, const PlaneView& to, const Roi& roi, T) const {
    for (int64_t y = 0; y < pooled_height; ++y) {
      for (int64_t x = 0; x < pooled_width; ++x) static_cast<T*>(to.data)[y * to.row + x * to.pixel] = 0;
    }
    each_tap(roi, [&](int64_t oy, int64_t ox, int64_t y, int64_t x, float weight) {
      static_cast<T*>(to.data)[oy * to.row + ox * to.pixel] +=
          static_cast<const T*>(map.data)[y * map.row + x * map.pixel] * static_cast<T>(weight);
    });
  }
};

struct RoiAlignBackward final : RoiPool {
  Tensor grad_output, grad_input;
  std::vector<int64_t> input_shape;

  void prepare() override {
    require(Dims(std::span<const int64_t>(input_shape)) == grad_input.shape, "xdiff_shape is {}, the output is {}",
            Dims(std::span<const int64_t>(input_shape)), grad_input);
    plan("the output", grad_input, "self", grad_output);
  }
  void run() override {
    const auto by_image = regions();
    parallel_parts(images_ * channels_, [&](int64_t part) {
      const Scratch<std::byte> buffer(map_.buffer_bytes() + pooled_.buffer_bytes());
      const PlaneView map = map_.target(part, buffer);
      in_slot([&](auto t) { clear(map, t); });
      for (const auto& [index, roi] : by_image[static_cast<size_t>(part / channels_)]) {
        const PlaneView from = pooled_.load(index * channels_ + part % channels_, buffer.data() + map_.buffer_bytes());
        in_slot([&, &region = roi](auto t) { spread(from, map, region, t); });
      }
      map_.store(part, buffer);
    });
  }

 private:
  template <class T>
  void clear(const PlaneView& map, T) const {
    for (int64_t y = 0; y < height_; ++y) {
      for (int64_t x = 0; x < width_; ++x) static_cast<T*>(map.data)[y * map.row + x * map.pixel] = 0;
    }
  }
  template <class T>
  void spread(const PlaneView& from, const PlaneView& map, const Roi& roi, T) const {
    each_tap(roi, [&](int64_t oy, int64_t ox, int64_t y, int64_t x, float weight) {
      static_cast<T*>(map.data)[y * map.row + x * map.pixel] +=
          static_cast<const T*>(from.data)[oy * from.row + ox * from.pixel] * static_cast<T>(weight);
    });
  }
};

#define NPU_ROI_OPTIONS(type)                                                                                        \
  in<&type::rois>("rois"), attr<&type::spatial_scale>("spatial_scale"), attr<&type::pooled_height>("pooled_height"), \
      attr<&type::pooled_width>("pooled_width"), attr<&type::sample_num>("sample_num"),                              \
      attr<&type::roi_end_mode>("roi_end_mode")
NPU_OPERATOR(RoiAlign, "roi_align", "image", in<&RoiAlign::features>("features"), NPU_ROI_OPTIONS(RoiAlign),
             out<&RoiAlign::out>("out"));
NPU_OPERATOR(RoiAlignBackward, "roi_align_backward", "image", in<&RoiAlignBackward::grad_output>("grad_output"),
             attr<&RoiAlignBackward::input_shape>("input_shape"), NPU_ROI_OPTIONS(RoiAlignBackward),
             out<&RoiAlignBackward::grad_input>("grad_input"));

}  // namespace
}  // namespace npu::ops
