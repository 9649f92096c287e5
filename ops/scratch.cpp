// SPDX-License-Identifier: Apache-2.0
#include "ops/scratch.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

namespace npu::ops {
namespace {

constexpr size_t kSmallest = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
/// What one idle thread may keep; larger blocks go straight back to the system.
constexpr size_t kKeptBytes = size_t{256} << 20;

using detail::ScratchBlock;

ScratchBlock allocate(size_t bytes) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : 64;
  void* data = std::aligned_alloc(alignment, bytes);
  if (data == nullptr) throw std::bad_alloc();
  // Working memory of this size is written from end to end: huge pages save most of the page faults.
  if (bytes >= kHugePage) madvise(data, bytes, MADV_HUGEPAGE);
  return {data, bytes};
}

class Cache {
 public:
  ~Cache() {
    for (const ScratchBlock& block : kept_) std::free(block.data);
  }

  ScratchBlock take(size_t bytes) {
    for (ScratchBlock& block : kept_) {
      // A block up to four times too large is taken all the same: sizes come in a mix.
      if (block.bytes < bytes || block.bytes / 4 > bytes) continue;
      total_ -= block.bytes;
      return std::exchange(block, {});
    }
    return allocate(bytes);
  }

  void give(ScratchBlock block) {
    // The smallest block (an empty place has size 0) makes room for a larger one.
    ScratchBlock& place = *std::ranges::min_element(kept_, {}, &ScratchBlock::bytes);
    if (place.bytes < block.bytes && total_ - place.bytes + block.bytes <= kKeptBytes) {
      total_ = total_ - place.bytes + block.bytes;
      std::swap(place, block);
    }
    std::free(block.data);
  }

 private:
  std::array<ScratchBlock, 12> kept_{};
  size_t total_ = 0;
};

Cache& cache() {
  thread_local Cache instance;
  return instance;
}

}  // namespace

detail::ScratchBlock detail::take_scratch(size_t bytes) {
  if (bytes >= kHugePage) return cache().take((bytes + kHugePage - 1) / kHugePage * kHugePage);
  return cache().take(bytes <= kSmallest ? kSmallest : std::bit_ceil(bytes));
}

void detail::give_scratch(ScratchBlock block) { cache().give(block); }

}  // namespace npu::ops
