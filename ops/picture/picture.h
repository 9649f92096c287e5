// SPDX-License-Identifier: Apache-2.0
// Pictures of bytes in memory: rows with strides, as decoders, cameras and files have them. A picture is seen as
// planes, one for each channel, whatever order its bytes have.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace npu::ops {

/// How the bytes lie. Numbers are those that clients have for them.
enum class PixelFormat : int32_t {
  kYuv400 = 0,
  kYuv420sp = 1,  ///< a plane of Y, one of U and V in turn; YVU: V and U
  kYvu420sp = 2,
  kYuv422sp = 3,
  kYvu422sp = 4,
  kYuv444sp = 5,
  kYvu444sp = 6,
  kYuyv422 = 7,  ///< four bytes for two pixels
  kUyvy422 = 8,
  kYvyu422 = 9,
  kVyuy422 = 10,
  kYuv444 = 11,  ///< three bytes for each pixel
  kRgb = 12,
  kBgr = 13,
  kArgb = 14,  ///< four bytes for each pixel, the name is their order
  kAbgr = 15,
  kRgba = 16,
  kBgra = 17,
  kYuv440sp = 1000,
  kYvu440sp = 1001,
};

enum class ColourModel : uint8_t { kGray, kYuv, kRgb };

/// Element (x, y) of a channel is at data[y * row + x * step].
struct Plane {
  uint8_t* data = nullptr;
  int64_t width = 0, height = 0, row = 0, step = 1;
  uint8_t* at(int64_t x, int64_t y) const { return data + y * row + x * step; }
  /// A part of it.
  Plane part(int64_t x, int64_t y, int64_t w, int64_t h) const { return {at(x, y), w, h, row, step}; }
};

struct Picture {
  PixelFormat format = PixelFormat::kYuv400;
  int64_t width = 0, height = 0;  ///< in pixels
  int64_t row = 0;                ///< bytes from row to row of the first plane
  int64_t rows = 0;               ///< rows of the first plane, before the next begins
  uint8_t* data = nullptr;
};

/// Channels Y, U, V or R, G, B, and A where there is one.
struct PictureView {
  ColourModel model = ColourModel::kGray;
  int channels = 1;
  bool alpha = false;                ///< the fourth is one
  int64_t shift_x = 0, shift_y = 0;  ///< log2 of how many pixels share a U and a V
  std::array<Plane, 4> planes;

  /// The pixels [x, x + w) x [y, y + h). Where colours are shared, all four must be even.
  PictureView part(int64_t x, int64_t y, int64_t w, int64_t h) const;
};

/// Whether the format is one of the above. The others have names only.
bool is_built(PixelFormat format);
std::string to_string(PixelFormat format);

/// Bytes of one pixel in a row of the first plane.
int64_t pixel_bytes(PixelFormat format);
/// Bytes of a whole picture with these strides.
int64_t bytes_of(PixelFormat format, int64_t row, int64_t rows);
/// Colours shared by pixels side by side, and above each other: sizes and bounds along such an axis are even.
bool shares_across(PixelFormat format);
bool shares_down(PixelFormat format);

PictureView planes_of(const Picture& picture);

}  // namespace npu::ops
