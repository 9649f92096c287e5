// SPDX-License-Identifier: Apache-2.0
// mapping.csv: which name a file should have whose own name is a number, because the file system takes no longer one.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace npu::graph::record {

inline constexpr std::string_view kMappingFile = "mapping.csv";
/// Bytes that one name of a file may have.
inline constexpr size_t kLongestName = 255;

struct StoredName {
  std::string file;  ///< under which it is written
  std::string line;  ///< what mapping.csv gets, with its end; empty where the name itself is short enough
};
/// Digits for a name that is too long, the same ones whenever and by whomever they are asked for.
StoredName stored_name(std::string name);

/// Number to name. Lines that are no pair are passed over.
using Mapping = std::map<std::string, std::string, std::less<>>;
Mapping parse_mapping(std::string_view text);
/// The mapping.csv of a folder; empty where there is none.
Mapping read_mapping(const std::string& folder);

}  // namespace npu::graph::record
