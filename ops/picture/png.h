// SPDX-License-Identifier: Apache-2.0
// PNG files to pictures, over libpng.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "ops/picture/transform.h"

namespace npu::ops {

struct PngInfo {
  int64_t width = 0, height = 0;
  int channels = 0;  ///< 1 gray, 2 with alpha, 3 colours (or a palette), 4 with alpha
};

/// What the head of a file says. Raises 161002 for what is no PNG.
PngInfo png_info(std::span<const std::byte> file);

/// Decodes a file. `target` is called with what the head says, before any pixel is there, and gives the picture of RGB,
/// with or without alpha, to fill; it may raise. 16 bits are cut to 8, palettes and gray become colours. Raises 161002
/// for a file that is damaged or cut short.
void decode_png(std::span<const std::byte> file, const std::function<PictureView(const PngInfo&)>& target);

}  // namespace npu::ops
