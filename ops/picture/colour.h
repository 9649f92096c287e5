// SPDX-License-Identifier: Apache-2.0
// Colours as YUV and as RGB.
#pragma once

#include "ops/picture/picture.h"

namespace npu::ops {

/// How YUV is meant: by the standard, and whether Y goes from 0 to 255 (wide) or from 16 to 235 (narrow).
enum class ColourStandard : uint8_t { kBt601Wide, kBt601Narrow, kBt709Wide, kBt709Narrow, kBt2020Wide, kBt2020Narrow };

/// Three planes of one size each, Y, U, V to R, G, B and back; `from` and `to` may be the same.
void yuv_to_rgb(const PictureView& from, const PictureView& to, ColourStandard standard);
void rgb_to_yuv(const PictureView& from, const PictureView& to, ColourStandard standard);

}  // namespace npu::ops
