// SPDX-License-Identifier: Apache-2.0
// CPUs without such instructions: has_dots says so, and nobody asks further.
#include "ops/cube/dots.h"

namespace npu::ops::cube {

bool has_dots() { return false; }
void dots_order_right(const GemmArgs<BFloat16>&, bool, BFloat16*) {}
void dots_multiply(const GemmArgs<BFloat16>&, const BFloat16*, int64_t, float*) {}

}  // namespace npu::ops::cube
