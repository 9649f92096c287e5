// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: address ranges without memory, memory without addresses, and mappings between them
// (expandable segments, pools that grow in place). Mapped parts are device memory like any other: find_block,
// check_live and resolve know them; mappings that touch count as one block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/memory/block.h"

namespace npu::device {

/// Sizes and offsets are multiples of this.
inline constexpr size_t kGranularity = size_t{2} << 20;

/// Reserves `bytes` of addresses (rounded up to kGranularity), at `want` if that is free. `alignment` 0 or a power of
/// two. Raises 107000 for bad sizes, 207001 when the address space is used up.
void* reserve_address(size_t bytes, size_t alignment, void* want);
/// Gives a whole range back. Raises 107000 when unknown or while parts are mapped.
void release_address(void* begin);

/// Memory of `device`, counted as used; returns its handle. Raises 107000 for sizes off the granularity, 207001 when
/// the device is full.
void* create_physical(int device, size_t bytes);
/// Ends the handle. The memory stays until its last mapping goes.
void free_physical(void* handle);

/// Maps all of `handle` at `begin` inside a reserved range (`bytes` must be its size, `offset` 0: 107000 otherwise).
void map_memory(void* begin, size_t bytes, size_t offset, void* handle);
/// Undoes the mapping that starts at `begin`, after work queued so far has run (107019 when that takes over a minute).
/// Within a callback it is undone at once: work that still names the memory then reads zeros.
void unmap_memory(void* begin);

/// Whether [begin, begin + bytes) lies in one reserved range, mapped or not.
bool is_reserved_range(const void* begin, size_t bytes);
/// Whether exactly [begin, begin + bytes) is the memory of `handle`. Raises 107000 for a bad handle.
bool is_mapping(const void* begin, size_t bytes, void* handle);

/// A further handle of the memory mapped around `ptr`, to be ended by free_physical. Raises 107000 where nothing is
/// mapped.
void* handle_of_mapping(const void* ptr);
/// The device whose memory is mapped at exactly [begin, begin + bytes); -1 for none.
int device_of_mapping(const void* begin, size_t bytes);

/// A number by which a process of the same user can import the memory while this process lives.
uint64_t export_physical(void* handle);
/// Opens it as memory of `device`; not counted as used here. Raises 107000 when it is gone or not ours.
void* import_physical(uint64_t shareable, int device);

namespace detail {
/// What memory.cpp asks about addresses outside the arenas.
Block find_mapped(const void* ptr, size_t* padded);
void* resolve_mapped(const void* ptr);
bool is_reserved(const void* ptr);
}  // namespace detail

}  // namespace npu::device
