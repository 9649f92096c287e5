// SPDX-License-Identifier: Apache-2.0
// Memory for copies of tensors that wait to be written. What is given back is kept for the next copy, up to a bound:
// memory that is new to the process costs more than the copy.
#pragma once

#include <cstddef>
#include <memory>

namespace npu::graph {

struct BlobMemory {
  size_t room = 0;
  void operator()(std::byte* bytes) const;
};

/// Bytes that nobody has filled with zeros first.
struct Blob {
  Blob() = default;
  explicit Blob(size_t count);
  std::unique_ptr<std::byte[], BlobMemory> bytes;
  size_t size = 0;
};

inline constexpr size_t kMostKeptBlobs = size_t{64} << 20;
/// Bytes that are kept for later blobs.
size_t kept_blobs();
/// Gives them back to the system.
void free_kept_blobs();

}  // namespace npu::graph
