// SPDX-License-Identifier: Apache-2.0
// Waiting until somebody has listed a folder.
#pragma once

#include <filesystem>

namespace npu::profile {

/// torch_npu starts the export and looks beside it, every 100 ms, for its first table. When the export, and all that
/// torch_npu does with its other files, ends between two looks, it takes the timeline for failed. An export of a small
/// collection takes 10 ms, so it stays until the folder has been listed.
class Listing {
 public:
  /// From now on listings of `folder` count.
  explicit Listing(const std::filesystem::path& folder);
  ~Listing();
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  /// Until somebody lists it, at most `milliseconds`. False when nobody has.
  bool wait(int milliseconds) const;

 private:
  const int watch_;
};

}  // namespace npu::profile
