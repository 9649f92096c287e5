// SPDX-License-Identifier: Apache-2.0
// Pictures counted and looked up value by value, and halved.
#pragma once

#include <array>
#include <cstdint>

#include "ops/picture/picture.h"

namespace npu::ops {

/// For each channel how often each value stands in it.
using Histogram = std::array<std::array<uint32_t, 256>, 3>;
/// For each channel what becomes of each value.
using LookUp = std::array<std::array<uint8_t, 256>, 3>;

/// Of Y, U, V or R, G, B, each as often as it is stored; an alpha is left out.
void count_values(const PictureView& picture, Histogram& counts);

/// `to`, of the format and size of `from`, which it may be; an alpha is copied.
void look_up(const PictureView& from, const PictureView& to, const LookUp& table);

/// Every second pixel of each channel, smoothed by the weights 1 4 6 4 1 both ways, rounded once; beyond an edge its
/// mirror's image goes on. The sizes of `to` are half of those of `from`.
void halve(const PictureView& from, const PictureView& to);

}  // namespace npu::ops
