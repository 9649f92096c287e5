// SPDX-License-Identifier: Apache-2.0
// Steps of a chain that together are one of the formulas of joined.cpp become one step.
#pragma once

#include "ops/vector/chain/chain.h"

namespace npu::ops {

/// The same chain with fewer steps, bit for bit the same results. Joined are steps of float32 or float64 whose results
/// nothing else reads; the dtype decides, since steps of narrower types round in between.
ChainGroup joined(const ChainGroup& group);

}  // namespace npu::ops
