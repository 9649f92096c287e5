// SPDX-License-Identifier: Apache-2.0
// Working memory of a kernel part. Each thread keeps one growing block per slot, so that a part which runs thousands of
// times allocates once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::ops {

/// How many blocks one kernel may hold at the same time.
inline constexpr size_t kScratchSlots = 8;

/// At least `bytes` bytes, 64-byte aligned, for the calling thread; contents are left over from the last use. The same
/// slot must not be held twice: a kernel that calls another one keeps to slots the other does not use.
std::byte* scratch(size_t slot, int64_t bytes);

template <class T>
T* scratch_of(size_t slot, int64_t count) {
  return reinterpret_cast<T*>(scratch(slot, count * static_cast<int64_t>(sizeof(T))));
}

}  // namespace npu::ops
