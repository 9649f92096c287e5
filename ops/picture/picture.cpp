// SPDX-License-Identifier: Apache-2.0
#include "ops/picture/picture.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace npu::ops {
namespace {

/// Where channels are: `offsets` in bytes of a pixel (of two, for packed 4:2:2), or of the second plane where `planar`.
struct Row {
  PixelFormat format;
  const char* name;
  ColourModel model;
  int pixel;    ///< bytes of a pixel in the first plane
  int step;     ///< bytes from one element of the other channels to the next
  bool second;  ///< U and V are in a second plane
  int shift_x, shift_y;
  std::array<int, 4> offsets;
};

using enum PixelFormat;
constexpr Row kRows[] = {
    {kYuv400, "YUV400", ColourModel::kGray, 1, 1, false, 0, 0, {0}},
    {kYuv420sp, "YUV420SP", ColourModel::kYuv, 1, 2, true, 1, 1, {0, 0, 1}},
    {kYvu420sp, "YVU420SP", ColourModel::kYuv, 1, 2, true, 1, 1, {0, 1, 0}},
    {kYuv422sp, "YUV422SP", ColourModel::kYuv, 1, 2, true, 1, 0, {0, 0, 1}},
    {kYvu422sp, "YVU422SP", ColourModel::kYuv, 1, 2, true, 1, 0, {0, 1, 0}},
    {kYuv444sp, "YUV444SP", ColourModel::kYuv, 1, 2, true, 0, 0, {0, 0, 1}},
    {kYvu444sp, "YVU444SP", ColourModel::kYuv, 1, 2, true, 0, 0, {0, 1, 0}},
    {kYuyv422, "YUYV422", ColourModel::kYuv, 2, 4, false, 1, 0, {0, 1, 3}},
    {kUyvy422, "UYVY422", ColourModel::kYuv, 2, 4, false, 1, 0, {1, 0, 2}},
    {kYvyu422, "YVYU422", ColourModel::kYuv, 2, 4, false, 1, 0, {0, 3, 1}},
    {kVyuy422, "VYUY422", ColourModel::kYuv, 2, 4, false, 1, 0, {1, 2, 0}},
    {kYuv444, "YUV444", ColourModel::kYuv, 3, 3, false, 0, 0, {0, 1, 2}},
    {kRgb, "RGB888", ColourModel::kRgb, 3, 3, false, 0, 0, {0, 1, 2}},
    {kBgr, "BGR888", ColourModel::kRgb, 3, 3, false, 0, 0, {2, 1, 0}},
    {kArgb, "ARGB8888", ColourModel::kRgb, 4, 4, false, 0, 0, {1, 2, 3, 0}},
    {kAbgr, "ABGR8888", ColourModel::kRgb, 4, 4, false, 0, 0, {3, 2, 1, 0}},
    {kRgba, "RGBA8888", ColourModel::kRgb, 4, 4, false, 0, 0, {0, 1, 2, 3}},
    {kBgra, "BGRA8888", ColourModel::kRgb, 4, 4, false, 0, 0, {2, 1, 0, 3}},
    {kYuv440sp, "YUV440SP", ColourModel::kYuv, 1, 2, true, 0, 1, {0, 0, 1}},
    {kYvu440sp, "YVU440SP", ColourModel::kYuv, 1, 2, true, 0, 1, {0, 1, 0}},
};

const Row* find(PixelFormat format) {
  const auto* found =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.format == format; });
  return found == std::end(kRows) ? nullptr : found;
}

const Row& row_of(PixelFormat format) {
  const Row* row = find(format);
  if (row == nullptr) fail(Code::kInternal, "there are no planes of format {}", static_cast<int>(format));
  return *row;
}

}  // namespace

bool is_built(PixelFormat format) { return find(format) != nullptr; }

std::string to_string(PixelFormat format) {
  const Row* row = find(format);
  return row == nullptr ? fmt::format("format {}", static_cast<int>(format)) : row->name;
}

int64_t pixel_bytes(PixelFormat format) { return row_of(format).pixel; }
bool shares_across(PixelFormat format) { return row_of(format).shift_x != 0; }
bool shares_down(PixelFormat format) { return row_of(format).shift_y != 0; }

int64_t bytes_of(PixelFormat format, int64_t row, int64_t rows) {
  const Row& r = row_of(format);
  // Of a second plane each row has a U and a V for every pixel, or every second one.
  return row * rows + (r.second ? (row * 2 >> r.shift_x) * (rows >> r.shift_y) : 0);
}

PictureView planes_of(const Picture& p) {
  const Row& r = row_of(p.format);
  PictureView view{.model = r.model,
                   .channels = r.model == ColourModel::kGray ? 1
                               : r.pixel == 4                ? 4
                                                             : 3,
                   .alpha = r.pixel == 4,
                   .shift_x = r.shift_x,
                   .shift_y = r.shift_y,
                   .planes = {}};
  for (int c = 0; c < view.channels; ++c) {
    const bool shared = c > 0 && r.model == ColourModel::kYuv;
    Plane& plane = view.planes[static_cast<size_t>(c)];
    plane.width = shared ? p.width >> r.shift_x : p.width;
    plane.height = shared ? p.height >> r.shift_y : p.height;
    plane.step = shared ? r.step : r.pixel;
    const bool second = shared && r.second;
    plane.row = second ? p.row * 2 >> r.shift_x : p.row;
    plane.data = p.data + (second ? p.row * p.rows : 0) + r.offsets[static_cast<size_t>(c)];
  }
  return view;
}

PictureView PictureView::part(int64_t x, int64_t y, int64_t w, int64_t h) const {
  PictureView out = *this;
  for (int c = 0; c < channels; ++c) {
    const bool shared = c > 0 && model == ColourModel::kYuv;
    const int64_t dx = shared ? shift_x : 0, dy = shared ? shift_y : 0;
    Plane& plane = out.planes[static_cast<size_t>(c)];
    plane = plane.part(x >> dx, y >> dy, w >> dx, h >> dy);
  }
  return out;
}

}  // namespace npu::ops
