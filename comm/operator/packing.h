// SPDX-License-Identifier: Apache-2.0
// Where tensors of one type lie in the block in which they are sent together. It follows from their sizes alone, so
// that all ranks have them at the same places.
#pragma once

#include <vector>

#include "base/tensor.h"

namespace npu::comm {

struct Packing {
  std::vector<int64_t> begin;  ///< of each tensor, in elements
  int64_t count = 0;           ///< elements of the block
};

/// Each tensor begins a cache line, as memory of its own would.
inline Packing packing_of(const std::vector<Tensor>& tensors) {
  constexpr int64_t kLine = 64;
  Packing out;
  for (const Tensor& tensor : tensors) {
    const int64_t line = kLine / static_cast<int64_t>(size_of(tensor.dtype));
    out.begin.push_back(out.count);
    out.count += (tensor.count() + line - 1) / line * line;
  }
  return out;
}

}  // namespace npu::comm
