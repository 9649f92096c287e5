// SPDX-License-Identifier: Apache-2.0
// A picture, or a part of one, in another size and another format.
#pragma once

#include "ops/picture/colour.h"
#include "ops/picture/picture.h"
#include "ops/picture/resize.h"

namespace npu::ops {

struct TransformRule {
  Interpolation interpolation = Interpolation::kBilinear;
  ColourStandard standard = ColourStandard::kBt601Wide;
};

/// Fills `to` with what `from` shows. Channels are resized one by one where both have the same colours; else they are
/// first brought to full size, then converted, and colours that pixels share are the mean of theirs. Of gray pictures
/// the colours are 128; an alpha that was not there is 255. The two must not overlap.
void transform(const PictureView& from, const PictureView& to, const TransformRule& rule);

enum class Border : uint8_t { kConstant, kReplicate, kReflect, kReflect101 };
struct BorderRule {
  Border kind = Border::kConstant;
  int64_t left = 0, top = 0;  ///< what the picture's first pixel moves by
  std::array<uint8_t, 4> values{};
};
/// Fills `to` with `from`, of the same format, and what is around it: a number for each channel, the outermost pixels,
/// or a mirror's image with or without them. `to` may be larger than a mirror reaches: it is mirrored again.
void add_border(const PictureView& from, const PictureView& to, const BorderRule& rule);

}  // namespace npu::ops
