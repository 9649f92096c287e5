// SPDX-License-Identifier: Apache-2.0
// Device memory: one arena per device, a memfd whose address range is reserved once and committed page by page as it is
// written. In guard mode (`ANYNPU_GUARD=1`) the client's addresses are unreadable, so host code that touches device
// memory stops at once, and kernels work through a second mapping of the same pages: everybody who reads or writes
// device memory first asks `resolve`.
#pragma once

#include <cstddef>

#include "device/memory/block.h"

namespace npu::device {

/// `bytes` of memory on `device`, content undefined, aligned to kMemoryAlignment. Zero bytes give a distinct address.
/// Raises 207001 with what was asked, used, free and what to do; waits first for queued work that holds freed memory.
void* allocate(int device, size_t bytes);
/// Frees a block by its first byte. Its memory is not reused before all work queued so far, on any stream, has run.
/// Raises 107000 for an address that does not start a live block (host memory, freed twice, inside a block).
void deallocate(void* ptr);

MemoryInfo memory_info(int device);
void reset_high_water(int device);
/// Frees every block of the device (aclrtResetDevice). Queued work must have ended.
void release_all(int device);

/// The live block that holds `ptr`, or an empty Block. About 10 ns when the thread has met the block before.
Block find_block(const void* ptr);

/// Raises 107000 unless [ptr, ptr + bytes) lies in one live block of `device`. The text tells host memory, freed
/// memory, how far a range passes its block's end, and a wrong device apart, and starts with `what`
/// ("self", "dst", "workspace" …). Nothing is checked for bytes == 0.
void check_live(const void* ptr, size_t bytes, int device = kAnyDevice, const char* what = "address");

/// True when `ptr` lies in an arena or reserved range, live or not, or in memory of another process.
bool is_device_address(const void* ptr);

namespace detail {
void* resolve_guarded(const void* ptr);
}  // namespace detail

/// Where kernels and copies read and write the client's device address. The identity, except in guard mode.
/// Addresses that are not device memory come back unchanged.
inline void* resolve(const void* ptr, [[maybe_unused]] size_t bytes) {
  if (!detail::guard_mode) [[likely]]
    return const_cast<void*>(ptr);
  return detail::resolve_guarded(ptr);
}

}  // namespace npu::device
