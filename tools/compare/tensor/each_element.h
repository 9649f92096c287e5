// SPDX-License-Identifier: Apache-2.0
// A tensor's elements one after another, in the order in which it is seen.
#pragma once

#include <algorithm>
#include <array>

#include "tools/compare/tensor/view.h"

namespace npu::compare {

/// Calls `visit(value, its number)`.
template <class Visit>
void each_element(const View& view, Visit&& visit) {
  constexpr size_t kBlock = 4096;  // elements that are read at a time
  std::array<float, kBlock> block;
  for (uint64_t first = 0; first < view.count; first += kBlock) {
    const size_t n = std::min<uint64_t>(kBlock, view.count - first);
    view.read(first, n, block.data());
    for (size_t i = 0; i < n; ++i) visit(block[i], first + i);
  }
}

}  // namespace npu::compare
