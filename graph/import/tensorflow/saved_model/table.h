// SPDX-License-Identifier: Apache-2.0
// The sorted table of texts that TensorFlow's checkpoints use as their index (the format of LevelDB's tables).
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace npu::graph::tensorflow {

using Table = std::map<std::string, std::string, std::less<>>;

/// All entries of the table that `file` holds; `name` is the file's, for errors. Raises 100006 where it is cut off, or
/// a checksum is not that of its block; 207000 for compressed blocks.
Table read_table(std::string_view file, std::string_view name);

}  // namespace npu::graph::tensorflow
