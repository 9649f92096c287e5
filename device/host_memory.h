// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory: ordinary memory that is remembered, so that copies can tell it from pageable memory (which
// they must read before they return).
#pragma once

#include <cstddef>

namespace npu::device {

/// `bytes` of host memory, aligned to a page. Raises 207001 when the machine has none left.
void* malloc_host(size_t bytes);
/// Frees it. Raises 107000 for any other address. Waits for queued work that may still use it.
void free_host(void* ptr);

/// Makes the client's own memory count as pinned / ordinary again. Raises 107000 when ranges overlap or are unknown.
void register_host(void* ptr, size_t bytes);
void unregister_host(void* ptr);

/// True when [ptr, ptr + bytes) lies in one pinned range: an asynchronous copy may read it later.
bool is_pinned(const void* ptr, size_t bytes);

}  // namespace npu::device
