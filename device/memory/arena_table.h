// SPDX-License-Identifier: Apache-2.0
// The arenas of all devices, each made at the first use of its memory.
#pragma once

#include <cstddef>

#include "device/memory/arena.h"

namespace npu::device::detail {

/// The arena of `device`, made at first use.
Arena& arena(int device);
/// The arena that `ptr` lies in, or null.
Arena* arena_of(const void* ptr);
/// The arena whose second view, that of kernels, holds `ptr`; null outside guard mode, where there is one view.
Arena* arena_of_kernel(const void* ptr);
/// The arena of `device` if it was made, or null.
Arena* made_arena(int device);
/// Bytes used in all of them.
size_t used_memory();
/// Bytes of blocks, in all of them, that nobody has written: the machine has not given them yet.
size_t unwritten_memory();
/// Raises 207001 with the figures of `device`.
[[noreturn]] void refuse_allocation(int device, size_t bytes);

}  // namespace npu::device::detail
