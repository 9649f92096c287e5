// SPDX-License-Identifier: Apache-2.0
// The second result of max pooling: where each maximum was found. Clients that read it get int32 or int64 positions in
// the input plane. Those that only hand it back get a mask whose content is ours: element numbers of the window, one
// byte each, as their buffer holds at least two bytes for every output and element of the window.
#pragma once

#include "ops/pooling/max_kernel.h"

namespace npu::ops {

/// Refuses (161002) planes of `self` that have more elements than places can count.
void check_places(const Tensor& self, const Planes& in, DType slot);

/// Positions: an integer tensor of the output's shape. Raises 161002.
Planes index_planes(const Tensor& indices, const Tensor& out, size_t spatial, DType slot, int64_t lanes);
/// A mask of any shape with room for the outputs of `window`. Raises 161002.
Planes mask_planes(const Tensor& mask, const Tensor& out, size_t spatial, DType slot, int64_t lanes,
                   const PoolWindow& window);

}  // namespace npu::ops
