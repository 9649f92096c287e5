// SPDX-License-Identifier: Apache-2.0
#include "ops/picture/picture.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace npu::ops {
namespace {

/// Where channels are: `offsets` in bytes of a pixel (of two, for packed 4:2:2), or of the second plane where `planar`.
struct Row {
  const char* name;
  PixelFormat format;
  int pixel;  ///< bytes of a pixel in the first plane
  int step;   ///< bytes from one element of the other channels to the next
  int shift_x, shift_y;
  std::array<int, 4> offsets;
  ColourModel model;
  bool second;  ///< U and V are in a second plane
};

using enum PixelFormat;
constexpr Row kRows[] = {
    {"YUV400", kYuv400, 1, 1, 0, 0, {0}, ColourModel::kGray, false},
    {"YUV420SP", kYuv420sp, 1, 2, 1, 1, {0, 0, 1}, ColourModel::kYuv, true},
    {"YVU420SP", kYvu420sp, 1, 2, 1, 1, {0, 1, 0}, ColourModel::kYuv, true},
    {"YUV422SP", kYuv422sp, 1, 2, 1, 0, {0, 0, 1}, ColourModel::kYuv, true},
    {"YVU422SP", kYvu422sp, 1, 2, 1, 0, {0, 1, 0}, ColourModel::kYuv, true},
    {"YUV444SP", kYuv444sp, 1, 2, 0, 0, {0, 0, 1}, ColourModel::kYuv, true},
    {"YVU444SP", kYvu444sp, 1, 2, 0, 0, {0, 1, 0}, ColourModel::kYuv, true},
    {"YUYV422", kYuyv422, 2, 4, 1, 0, {0, 1, 3}, ColourModel::kYuv, false},
    {"UYVY422", kUyvy422, 2, 4, 1, 0, {1, 0, 2}, ColourModel::kYuv, false},
    {"YVYU422", kYvyu422, 2, 4, 1, 0, {0, 3, 1}, ColourModel::kYuv, false},
    {"VYUY422", kVyuy422, 2, 4, 1, 0, {1, 2, 0}, ColourModel::kYuv, false},
    {"YUV444", kYuv444, 3, 3, 0, 0, {0, 1, 2}, ColourModel::kYuv, false},
    {"RGB888", kRgb, 3, 3, 0, 0, {0, 1, 2}, ColourModel::kRgb, false},
    {"BGR888", kBgr, 3, 3, 0, 0, {2, 1, 0}, ColourModel::kRgb, false},
    {"ARGB8888", kArgb, 4, 4, 0, 0, {1, 2, 3, 0}, ColourModel::kRgb, false},
    {"ABGR8888", kAbgr, 4, 4, 0, 0, {3, 2, 1, 0}, ColourModel::kRgb, false},
    {"RGBA8888", kRgba, 4, 4, 0, 0, {0, 1, 2, 3}, ColourModel::kRgb, false},
    {"BGRA8888", kBgra, 4, 4, 0, 0, {2, 1, 0, 3}, ColourModel::kRgb, false},
    {"YUV440SP", kYuv440sp, 1, 2, 0, 1, {0, 0, 1}, ColourModel::kYuv, true},
    {"YVU440SP", kYvu440sp, 1, 2, 0, 1, {0, 1, 0}, ColourModel::kYuv, true},
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
