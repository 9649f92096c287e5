// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all: readers wait for its name.
#pragma once

#include <filesystem>

namespace npu::profile {

/// Raises npu::Error: what could not be written, why (a number of errno), and what helps.
[[noreturn]] void cannot_write(const std::filesystem::path& path, int reason);
/// With the folders above it, or raises npu::Error.
void make_folder(const std::filesystem::path& place);

/// Until it is kept it stands under another name beside its own; what is not kept goes.
class Draft {
 public:
  explicit Draft(std::filesystem::path path);
  ~Draft();
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Where to write.
  const std::filesystem::path& part() const { return part_; }
  void keep();

 private:
  const std::filesystem::path path_, part_;
  bool kept_ = false;
};

}  // namespace npu::profile
