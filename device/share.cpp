// SPDX-License-Identifier: Apache-2.0
#include "device/share.h"

#include "device/arena.h"
#include "device/init.h"

namespace npu::device {

// Segment 1 is the arena of device 0.
SharedRange share(const void* ptr, size_t bytes) {
  check_process();
  const Arena* arena = detail::arena_of(ptr);
  if (arena == nullptr || bytes > arena->size() - arena->offset_of(ptr)) return {};
  for (int device = 0;; ++device)
    if (detail::made_arena(device) == arena) return {static_cast<uint64_t>(device) + 1, arena->offset_of(ptr)};
}

Segment find_segment(uint64_t segment) {
  check_process();
  const Arena* arena = segment == 0 || segment > 1024 ? nullptr : detail::made_arena(static_cast<int>(segment) - 1);
  return arena == nullptr ? Segment{} : Segment{arena->file(), arena->size(), arena->kernel_base()};
}

}  // namespace npu::device
