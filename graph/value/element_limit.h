// SPDX-License-Identifier: Apache-2.0
// How many elements lists, stacks and arrays of tensors may have. Programs give the number as 32 bits: a table of the
// handles of 2^31 elements takes more memory than many a machine has.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace npu::graph {

inline constexpr int64_t kMostElements = int64_t{1} << 24;

/// Raises 161002 for more elements than these.
inline void check_element_count(int64_t count) {
  require(count <= kMostElements,
          "{} elements are requested; a list, a stack or an array of tensors has at most {}. Use fewer and larger "
          "elements",
          count, kMostElements);
}

}  // namespace npu::graph
