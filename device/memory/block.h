// SPDX-License-Identifier: Apache-2.0
// What a piece of device memory is, and what all who keep some need to say.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace npu::device {

/// Blocks start at multiples of this (of a page in guard mode).
inline constexpr size_t kMemoryAlignment = 512;

struct MemoryInfo {
  size_t capacity = 0;    ///< min(profile, 80 % of what the machine or cgroup has), or ANYNPU_MEMORY
  size_t used = 0;        ///< bytes in live blocks and physical handles, rounded to the alignment
  size_t high_water = 0;  ///< highest `used` since the start or the last reset
  size_t waiting = 0;     ///< freed bytes that queued work may still touch; they are reused once it has run
  size_t free() const { return capacity - used; }
};

/// A live range of device memory: a block of `allocate`, or a mapped part of a reserved range.
struct Block {
  std::byte* begin = nullptr;
  size_t bytes = 0;  ///< as asked for; what check_live compares with
  int device = -1;
  explicit operator bool() const { return begin != nullptr; }
};

/// Any device of the process.
inline constexpr int kAnyDevice = -1;

namespace detail {
extern bool guard_mode;  ///< fixed when the first arena is made
/// Grows whenever a live range ends: what threads remember of blocks met before is then worth nothing.
extern std::atomic<uint64_t> block_generation;
inline void forget_blocks() { block_generation.fetch_add(1, std::memory_order_acq_rel); }
/// "1536 bytes", "12.5 MiB": sizes in error texts.
std::string to_size(size_t bytes);
}  // namespace detail

}  // namespace npu::device
