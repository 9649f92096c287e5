// SPDX-License-Identifier: Apache-2.0
// Device memory of other processes, by a key that one of them gave (share.h). An imported range is device memory like
// any other to copies and kernels; it is the same memory, not a copy, and lives as long as its owner keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "device/memory/block.h"

namespace npu::device {

/// The memory behind the key, as memory of `device`; the same address when it is asked again. Raises 107000 for a key
/// that names none: its process has ended, or belongs to another user.
void* import_memory(const std::string& key, int device);

namespace detail {
/// The key of a range of an arena's file of this process.
std::string to_key(int fd, uint64_t offset, uint64_t bytes);
[[noreturn]] void refuse_key(const std::string& key);
/// Undoes one import; false where there is none.
bool close_import(const std::string& key);
/// What memory.cpp asks about addresses outside the arenas.
Block find_imported(const void* ptr, size_t* padded);
}  // namespace detail

}  // namespace npu::device
