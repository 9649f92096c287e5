// SPDX-License-Identifier: Apache-2.0
// One row of a picture: its bytes taken apart into planes of channels, and the colours changed.
#pragma once

#include <cstdint>

#include "ops/image/aipp_block.h"

namespace npu::ops {

struct AippRow {
  const AippHead* head = nullptr;
  const uint8_t* pixels = nullptr;  ///< the row's first pixel; of YUV, its Y
  const uint8_t* chroma = nullptr;  ///< of YUV: the pair of U and V of that pixel
  int64_t width = 0;
  uint8_t* planes[4] = {};  ///< room for a row of each channel
};

/// For the running CPU: fills the planes.
void read_aipp_row(const AippRow& row);

}  // namespace npu::ops
