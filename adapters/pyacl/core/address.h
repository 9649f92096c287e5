// SPDX-License-Identifier: Apache-2.0
// Numbers that scripts hand over as addresses: whether there is memory behind them.
#pragma once

#include <cstddef>

namespace npu::pyacl {

/// Whether the process has memory at all of these bytes. Memory that was given back to the system is none; what the
/// allocator keeps for later still is, as in C.
bool mapped(const void* address, size_t bytes);
/// Whether the process can read all of them: addresses that are reserved, or a device's, may be mapped and unreadable.
bool readable(const void* address, size_t bytes);

}  // namespace npu::pyacl
