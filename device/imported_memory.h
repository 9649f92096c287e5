// SPDX-License-Identifier: Apache-2.0
// Device memory of other processes, by a key that one of them gives. An imported range is device memory like any other
// to copies and kernels; it is the same memory, not a copy, and lives as long as its owner keeps it.
#pragma once

#include <cstddef>
#include <string>

#include "device/memory.h"

namespace npu::device {

/// A key for [ptr, ptr + bytes), of at most 64 characters. Raises 107000 for what is not live, 207000 for mapped parts
/// of reserved ranges (export_physical shares those).
std::string export_memory(const void* ptr, size_t bytes);
/// Whether this process gave the key and has not ended it.
bool is_exported(const std::string& key);
/// The memory behind the key, as memory of `device`; the same address when it is asked again. Raises 107000 for a key
/// that names none: its process has ended, or belongs to another user.
void* import_memory(const std::string& key, int device);
/// Undoes one import, after the work queued so far (107019 when that takes over a minute); without one, the export.
/// Raises 107000 for other keys.
void close_shared(const std::string& key);

namespace detail {
/// What memory.cpp asks about addresses outside the arenas.
Block find_imported(const void* ptr, size_t* padded);
}  // namespace detail

}  // namespace npu::device
