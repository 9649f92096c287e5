// SPDX-License-Identifier: Apache-2.0
// How pictures become the input of a model, as the block of memory that the vendor's pages show: a head, and a part for
// each picture. Models whose pictures change from run to run take one as an input of their own. Nobody writes it by
// hand, so the number of a format is ours: the one that the C interface gives it (aclAippInputFormat).
#pragma once

#include <cstdint>

namespace npu::ops {

/// How the bytes of a picture lie.
enum class PictureFormat : uint8_t {
  kYuv420 = 1,  ///< a plane of Y, then one of U and V in turn, a pair for each 2 x 2 pixels
  kXrgb = 2,    ///< X, R, G, B for each pixel
  kRgb = 3,     ///< R, G, B for each pixel
  kGray = 4,    ///< one plane
};

/// What holds for all pictures.
struct AippHead {
  PictureFormat format = PictureFormat::kRgb;
  int8_t converts = 0;  ///< colours, by the matrix
  int8_t swaps = 0;     ///< R and B, or U and V
  int8_t rotates = 0;   ///< X R G B becomes R G B X
  int8_t pictures = 1;  ///< parts that follow
  int8_t reserved[3] = {};
  int32_t width = 0, height = 0;  ///< of the pictures as they come
  int16_t matrix[9] = {};
  int16_t reserved2[3] = {};
  uint8_t output_bias[3] = {};  ///< added after the matrix, where colours come as RGB
  uint8_t input_bias[3] = {};   ///< subtracted before it, where they come as YUV
  int8_t reserved3[18] = {};
};
static_assert(sizeof(AippHead) == 64);

/// What holds for one picture.
struct AippPicture {
  int8_t crops = 0;
  int8_t resizes = 0;  ///< not built
  int8_t pads = 0;     ///< 1: by a number; other ways are not built
  int8_t turns = 0;    ///< not built
  int8_t reserved[4] = {};
  int32_t left = 0, top = 0, width = 0, height = 0;  ///< of what is cut out
  int32_t resize[4] = {};
  int32_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  int16_t mean[4] = {};
  uint16_t min[4] = {};                                  ///< halves
  uint16_t scale[4] = {0x3c00, 0x3c00, 0x3c00, 0x3c00};  ///< halves
  int8_t reserved2[16] = {};
};
static_assert(sizeof(AippPicture) == 96);

/// Bytes of one picture.
constexpr int64_t picture_bytes(PictureFormat format, int64_t width, int64_t height) {
  const int64_t pixels = width * height;
  switch (format) {
    case PictureFormat::kYuv420: return pixels * 3 / 2;
    case PictureFormat::kXrgb: return pixels * 4;
    case PictureFormat::kRgb: return pixels * 3;
    case PictureFormat::kGray: return pixels;
  }
  return 0;
}

/// Channels that a format has; a model may take the first of them only.
constexpr int64_t channels_of(PictureFormat format) {
  return format == PictureFormat::kXrgb ? 4 : format == PictureFormat::kGray ? 1 : 3;
}

}  // namespace npu::ops
