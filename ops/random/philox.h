// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10, a counter-based generator: any element can be made without the ones before it, so results depend
// neither on threads nor on strides. Torch's devices and TensorFlow use it in two ways.
#pragma once

#include <cstdint>

namespace npu::ops {

/// What torch's generator hands over: key = seed, counter words 0 and 1 = offset, words 2 and 3 = number of the block
/// of elements. The client moves the offset on after each call; a call uses one offset only.
struct RandomState {
  uint64_t seed = 0;
  uint64_t offset = 0;
};

/// Words of `blocks` consecutive blocks from block `first` on: words[4 * i + k] is word k of block first + i.
void philox(RandomState state, uint64_t first, int64_t blocks, uint32_t* words);

/// What TensorFlow's generators hold: a key, and a counter of 128 bits that goes up by one a block.
struct RandomCounter {
  uint64_t low = 0;
  uint64_t high = 0;
  uint64_t key = 0;
  /// The counter `blocks` further on.
  RandomCounter after(uint64_t blocks) const { return {low + blocks, high + (low + blocks < low ? 1 : 0), key}; }
};

/// Words of `blocks` consecutive blocks, the first at `counter`.
void philox(RandomCounter counter, int64_t blocks, uint32_t* words);
/// Words of `runs` runs of two blocks; each run begins `apart` blocks after the one before.
void philox_runs(RandomCounter counter, uint64_t apart, int64_t runs, uint32_t* words);

}  // namespace npu::ops
