// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10, the counter-based generator of torch's devices: key = seed, counter words 0 and 1 = offset, words 2
// and 3 = number of the block of elements. Any element can be made without the ones before it, so results depend
// neither on threads nor on strides. The client moves the offset on after each call; a call uses one offset only.
#pragma once

#include <cstdint>

namespace npu::ops {

/// What a client's generator hands over.
struct RandomState {
  uint64_t seed = 0;
  uint64_t offset = 0;
};

/// Words of `blocks` consecutive blocks from block `first` on: words[4 * i + k] is word k of block first + i.
void philox(RandomState state, uint64_t first, int64_t blocks, uint32_t* words);

}  // namespace npu::ops
