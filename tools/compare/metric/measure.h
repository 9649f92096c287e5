// SPDX-License-Identifier: Apache-2.0
// The numbers of a comparison: two passes over blocks of both tensors, on all threads of the pool.
#pragma once

#include "tools/compare/metric/sums.h"
#include "tools/compare/tensor/view.h"

namespace npu::compare {

struct Measured {
  uint64_t count = 0;
  Sums sums;
  Spread spread;  ///< of the second pass, where it was made and all elements are finite
};

/// Of the first `count` elements of both. Bits do not depend on the number of threads.
Measured measure(const View& x, const View& y, uint64_t count, bool second_pass);

}  // namespace npu::compare
