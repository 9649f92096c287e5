// SPDX-License-Identifier: Apache-2.0
// Copies and fills between host and device memory, in stream order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::device {
class Stream;
}

namespace npu::acl {

/// One copy as the client asked for it; `kind` is an aclrtMemcpyKind.
struct Copy {
  void* to;
  size_t capacity;  ///< what the client says fits behind `to`
  const void* from;
  size_t bytes;
  int kind;
  size_t rows = 1;  ///< of `bytes` each, `to_pitch` and `from_pitch` bytes apart
  size_t to_pitch = 0;
  size_t from_pitch = 0;

  /// Bytes from the first to the last that the copy touches.
  size_t written() const { return rows == 0 ? 0 : (rows - 1) * to_pitch + bytes; }
  size_t read() const { return rows == 0 ? 0 : (rows - 1) * from_pitch + bytes; }
  /// Bytes that are copied.
  size_t total() const { return rows * bytes; }
};

/// Copies after the work of the current context's default stream and returns when done.
/// Both raise 100000 for null addresses and 107000 when bytes pass the capacity, a range is not live or mapped memory,
/// or `kind` contradicts the addresses.
void copy_now(const Copy& copy);
/// Queues the copy; pageable host memory has been read, and written, on return.
void copy_in_stream(const Copy& copy, device::Stream& stream);

/// Raises 107000, naming `argument`, unless all of the range is memory of this process.
void check_host(const void* address, size_t bytes, const char* argument);

/// Fill device memory, or page-locked host memory, with one byte, with the same order and errors.
void fill_now(void* to, size_t capacity, int32_t value, size_t bytes);
void fill_in_stream(void* to, size_t capacity, int32_t value, size_t bytes, device::Stream& stream);

}  // namespace npu::acl
