// SPDX-License-Identifier: Apache-2.0
// Device memory by names that other processes understand: (segment, offset), or a key of text. A segment is the memfd
// behind an arena; whoever holds its descriptor can map it. Files of arenas are never truncated, so a peer's mapping
// stays valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace npu::device {

/// A range of device memory of one process.
struct SharedRange {
  uint64_t segment = 0;  ///< 0: cannot be shared
  uint64_t offset = 0;
  explicit operator bool() const { return segment != 0; }
};

/// The name of [ptr, ptr + bytes), which must be live. Empty for memory that is no part of an arena: mapped parts of
/// reserved ranges lie in many files.
SharedRange share(const void* ptr, size_t bytes);

/// What is behind a segment of this process.
struct Segment {
  int fd = -1;  ///< stays this room's; -1 for a segment that does not exist
  size_t bytes = 0;
  std::byte* base = nullptr;  ///< where kernels of this process reach it
};
Segment find_segment(uint64_t segment);

/// A key for [ptr, ptr + bytes), of at most 64 characters, for import_memory of another process. Raises 107000 for what
/// is not live, 207000 for mapped parts of reserved ranges (export_physical shares those).
std::string export_memory(const void* ptr, size_t bytes);
/// Whether this process gave the key and has not ended it.
bool is_exported(const std::string& key);
/// Undoes one import, whose pages stay for the work queued so far; without one, the export. Raises 107000 for other
/// keys.
void close_shared(const std::string& key);

}  // namespace npu::device
