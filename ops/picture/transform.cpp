// SPDX-License-Identifier: Apache-2.0
#include "ops/picture/transform.h"

#include <algorithm>
#include <vector>

#include "base/thread_pool.h"

namespace npu::ops {
namespace {

/// Room for three channels in full size, side by side.
class FullSize {
 public:
  FullSize(ColourModel model, int64_t width, int64_t height) : bytes_(static_cast<size_t>(3 * width * height)) {
    view_.model = model, view_.channels = 3;
    for (int c = 0; c < 3; ++c)
      view_.planes[static_cast<size_t>(c)] = {bytes_.data() + c * width * height, width, height, width, 1};
  }
  const PictureView& view() const { return view_; }

 private:
  std::vector<uint8_t> bytes_;
  PictureView view_;
};

void resize_all(const PictureView& from, const PictureView& to, int channels, Interpolation interpolation) {
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) resize_plane(from.planes[c], to.planes[c], interpolation);
}

void set_alpha(const PictureView& from, const PictureView& to, Interpolation interpolation) {
  if (!to.alpha) return;
  if (from.alpha) return resize_plane(from.planes[3], to.planes[3], interpolation);
  fill_plane(to.planes[3], 255);
}

/// Between YUV and RGB.
void convert(const PictureView& from, const PictureView& to, const TransformRule& rule) {
  const Plane& first = to.planes[0];
  const FullSize full(to.model, first.width, first.height);
  resize_all(from, full.view(), 3, rule.interpolation);
  if (to.model == ColourModel::kRgb)
    yuv_to_rgb(full.view(), full.view(), rule.standard);
  else
    rgb_to_yuv(full.view(), full.view(), rule.standard);
  for (size_t c = 0; c < 3; ++c) shrink_plane(full.view().planes[c], to.planes[c]);
}

void from_gray(const PictureView& from, const PictureView& to, Interpolation interpolation) {
  resize_plane(from.planes[0], to.planes[0], interpolation);
  for (size_t c = 1; c < 3; ++c) {
    if (to.model == ColourModel::kRgb)
      resize_plane(from.planes[0], to.planes[c], interpolation);
    else
      fill_plane(to.planes[c], 128);
  }
}

void to_gray(const PictureView& from, const PictureView& to, const TransformRule& rule) {
  if (from.model == ColourModel::kYuv) return resize_plane(from.planes[0], to.planes[0], rule.interpolation);
  const FullSize full(ColourModel::kYuv, to.planes[0].width, to.planes[0].height);
  resize_all(from, full.view(), 3, rule.interpolation);
  rgb_to_yuv(full.view(), full.view(), rule.standard);
  shrink_plane(full.view().planes[0], to.planes[0]);
}

/// Which element stands at position `at` of a row of `size` that goes on in both directions; -1 for none.
int64_t source_of(int64_t at, int64_t size, Border kind) {
  if (at >= 0 && at < size) return at;
  if (kind == Border::kConstant) return -1;
  if (kind == Border::kReplicate || size == 1) return std::clamp<int64_t>(at, 0, size - 1);
  const bool once = kind == Border::kReflect101;  // the outermost element is not repeated
  const int64_t period = once ? 2 * size - 2 : 2 * size;
  const int64_t in = (at % period + period) % period;
  return in < size ? in : period - in - (once ? 0 : 1);
}

void add_border(const Plane& from, const Plane& to, int64_t left, int64_t top, Border kind, uint8_t value) {
  std::vector<int64_t> columns(static_cast<size_t>(to.width));
  for (int64_t x = 0; x < to.width; ++x) columns[static_cast<size_t>(x)] = source_of(x - left, from.width, kind);
  parallel_for(to.height, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, to.width)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t y = begin; y < end; ++y) {
                   const int64_t row = source_of(y - top, from.height, kind);
                   for (int64_t x = 0; x < to.width; ++x) {
                     const int64_t column = columns[static_cast<size_t>(x)];
                     *to.at(x, y) = row < 0 || column < 0 ? value : *from.at(column, row);
                   }
                 }
               });
}

}  // namespace

void transform(const PictureView& from, const PictureView& to, const TransformRule& rule) {
  if (from.model == to.model)
    resize_all(from, to, std::min(3, to.channels), rule.interpolation);
  else if (from.model == ColourModel::kGray)
    from_gray(from, to, rule.interpolation);
  else if (to.model == ColourModel::kGray)
    to_gray(from, to, rule);
  else
    convert(from, to, rule);
  set_alpha(from, to, rule.interpolation);
}

void add_border(const PictureView& from, const PictureView& to, const BorderRule& rule) {
  for (int c = 0; c < to.channels; ++c) {
    const auto i = static_cast<size_t>(c);
    const bool shared = c > 0 && to.model == ColourModel::kYuv;
    const int64_t left = shared ? rule.left >> to.shift_x : rule.left;
    const int64_t top = shared ? rule.top >> to.shift_y : rule.top;
    add_border(from.planes[i], to.planes[i], left, top, rule.kind, rule.values[i]);
  }
}

}  // namespace npu::ops
