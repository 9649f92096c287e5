// SPDX-License-Identifier: Apache-2.0
// How much room a cache may take: op_cache.ini beside it, else the environment, else 500 MB.
//
//   [op_compiler_cache]
//   ascend_max_op_cache_size=500
//   ascend_remain_cache_size_ratio=80
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace npu::graph::cache {

struct Limit {
  int64_t megabytes = 500;      ///< of all entries
  int64_t remain_percent = 50;  ///< of it that entries may still take after the oldest were removed, 1 to 100
  int64_t bytes() const { return megabytes << 20; }
  int64_t remaining_bytes() const { return bytes() / 100 * remain_percent; }
};

/// The limit that the text of a file says; none unless both of its values are there and valid. Newer names of them
/// (max_op_cache_size, remain_cache_size_ratio) count too.
std::optional<Limit> read_limit(std::string_view ini);
/// The one in force for caches in `folder`, which has the file.
Limit limit_of(const std::filesystem::path& folder);
/// Writes the file with the limit in force, unless there is one; for users to change. Failures are nobody's loss.
void write_limit(const std::filesystem::path& folder);

}  // namespace npu::graph::cache
