// SPDX-License-Identifier: Apache-2.0
// Numbers of 4 bits: two share a byte, the first in its lower half, each in two's complement.
#pragma once

#include <cstdint>

namespace npu::ops {

/// Copies `count` numbers of 4 bits to floats: those at `first`, `first + stride`, … of `data`, counted in numbers.
void read_nibbles(const void* data, int64_t first, int64_t stride, float* to, int64_t count);

}  // namespace npu::ops
