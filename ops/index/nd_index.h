// SPDX-License-Identifier: Apache-2.0
// Indices whose last axis holds one position for each leading dimension of the tensor they point into.
#pragma once

#include <vector>

#include "ops/index/indexed.h"

namespace npu::ops {

struct NdIndex {
  Tensor view;  ///< the tensor as the loop sees it: axes of the indices, then the dimensions they leave
  Dims shape;   ///< of the indices, without the last axis
  std::vector<IndexAxis> axes;
};

/// Positions below 0 count from the end when `negative`. Raises 161002 when indices name more dimensions than `target`
/// has.
NdIndex nd_index(const Tensor& target, const Tensor& indices, bool negative = false);

}  // namespace npu::ops
