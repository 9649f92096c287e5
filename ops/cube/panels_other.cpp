// SPDX-License-Identifier: Apache-2.0
// CPUs without such instructions: has_panels says so, and nobody asks further.
#include "ops/cube/panels.h"

namespace npu::ops::cube {

bool has_panels(DType) { return false; }
void order_right(const Right&, int64_t, bool, void*) {}
void order_right(const RightTaps&, int64_t, void*) {}
void gather_pixels(DType, const void*, int64_t, int64_t, int64_t, void*, int64_t) {}
void direct_block(const DirectBlock&) {}
void direct_sums(const DirectSums&) {}

}  // namespace npu::ops::cube
