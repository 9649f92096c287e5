// SPDX-License-Identifier: Apache-2.0
// A file's bytes in memory, read as they are touched.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace npu::graph::record {

class MappedFile {
 public:
  /// Raises 100003 with the reason for a file that cannot be read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& from) noexcept;
  MappedFile& operator=(MappedFile&& from) noexcept;

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace npu::graph::record
