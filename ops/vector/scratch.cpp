// SPDX-License-Identifier: Apache-2.0
#include "ops/vector/scratch.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace npu::ops {
namespace {

constexpr int64_t kAlignment = 64;

struct Free {
  void operator()(std::byte* block) const { std::free(block); }  // NOLINT: aligned_alloc's partner
};

struct Block {
  std::unique_ptr<std::byte, Free> data;
  int64_t bytes = 0;
};

}  // namespace

std::byte* scratch(size_t slot, int64_t bytes) {
  thread_local Block blocks[kScratchSlots];
  Block& block = blocks[slot];
  if (block.bytes < bytes) {
    // Growing by half again keeps the number of allocations logarithmic; one page more is cheap.
    const int64_t wanted = (std::max(bytes, block.bytes * 3 / 2) + 4095) / kAlignment * kAlignment;
    block.data.reset();
    block.data.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, static_cast<size_t>(wanted))));
    if (block.data == nullptr) std::abort();  // phase 2 cannot report; the host itself is out of memory
    block.bytes = wanted;
  }
  return block.data.get();
}

}  // namespace npu::ops
