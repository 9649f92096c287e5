// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory: ordinary memory that is remembered, so that copies can tell it from pageable memory (which
// they must read before they return).
#pragma once

#include <cstddef>

#include "device/memory/block.h"

namespace npu::device {

/// `bytes` of host memory, aligned to a page. Raises 207001 when the machine has none left.
void* malloc_host(size_t bytes);
/// Frees it. Raises 107000 for any other address. Queued work may go on using it: the pages are given back after that.
void free_host(void* ptr);

/// Lets kernels of `device` reach [ptr, ptr + bytes), of malloc_host or the client's own: find_block and check_live
/// know it, copies go on taking it as host memory, which is pinned now. Raises 107000 when ranges overlap.
void map_host(void* ptr, size_t bytes, int device);
/// Page-locks the client's own memory, not that of malloc_host: copies may read it later, kernels do not reach it.
/// Raises 107000 when ranges overlap.
void pin_host(void* ptr, size_t bytes);
/// Undoes either after the work queued so far (107019 when that takes over a minute); within a callback at once. Raises
/// 107000 unless such a range starts at `ptr`.
void unmap_host(void* ptr);

/// True when [ptr, ptr + bytes) lies in one pinned range: an asynchronous copy may read it later.
bool is_pinned(const void* ptr, size_t bytes);

namespace detail {
/// Retains the block of malloc_host around `ptr` and returns its first byte; null for other memory (hold.h).
const void* hold_host(const void* ptr);
/// Undoes one hold. A block that was freed meanwhile is given back with the last one.
void release_host(const void* begin);
/// Whether a held block was freed.
bool is_held_after_free(const void* begin);
/// What memory.cpp asks about addresses outside of arenas and reserved ranges.
Block find_host(const void* ptr, size_t* padded);
}  // namespace detail

}  // namespace npu::device
