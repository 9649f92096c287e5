// SPDX-License-Identifier: Apache-2.0
// One channel of a picture in another size. Positions are those of the pixels' centres; weights are of 11 bits, and
// sums rounded once, so that results do not depend on the CPU.
#pragma once

#include "ops/picture/picture.h"

namespace npu::ops {

enum class Interpolation : uint8_t { kBilinear, kNearest };

/// Fills `to`. A plane of the same size is copied. `from` and `to` must not overlap.
void resize_plane(const Plane& from, const Plane& to, Interpolation interpolation);

/// The mean of each block that becomes one element of `to`, whose sizes are those of `from`, or half of them.
void shrink_plane(const Plane& from, const Plane& to);

void fill_plane(const Plane& plane, uint8_t value);

}  // namespace npu::ops
