// SPDX-License-Identifier: Apache-2.0
// Names of golden files: `{operator}.{output}.{microseconds}.npy`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace npu::tensorflow::golden {

inline constexpr size_t kLongestName = 255;  ///< bytes that a file system takes

struct FileName {
  std::string file;
  std::string listed;  ///< the line of mapping.csv, with its end; empty where the name itself is short enough
};

/// As it stands in the folder. Of `node` each / . \ and blank is _, as in names of dumps; a name that is too long is a
/// number, and mapping.csv says whose.
FileName file_name(std::string_view node, int64_t output, uint64_t microseconds);

/// Now, and never the same twice.
uint64_t unique_now();

}  // namespace npu::tensorflow::golden
