// SPDX-License-Identifier: Apache-2.0
// What a loss does with its elements: the client's numbers are torch's.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace npu::ops {

enum class ReductionMode : int64_t { kNone = 0, kMean = 1, kSum = 2 };

/// Raises 161002 for any other number.
inline ReductionMode reduction_mode(int64_t number) {
  require(number >= 0 && number <= 2, "reduction is {}; give 0 (none), 1 (mean) or 2 (sum)", number);
  return static_cast<ReductionMode>(number);
}

}  // namespace npu::ops
