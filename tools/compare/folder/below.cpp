// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/folder/below.h"

#include <algorithm>
#include <filesystem>

#include "graph/dump/record/mapping.h"

namespace npu::compare {

namespace fs = std::filesystem;
namespace record = graph::record;

std::vector<Named> files_below(const std::string& folder) {
  std::vector<Named> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == name.npos) {
      const record::Mapping mapping = record::read_mapping(entry.path().parent_path());
      if (const auto at = mapping.find(name); at != mapping.end()) name = at->second;
    }
    if (auto parsed = record::parse_name(name)) found.push_back({entry.path(), std::move(*parsed)});
  }
  std::ranges::stable_sort(found, {}, [](const Named& n) { return n.name.timestamp; });
  return found;
}

}  // namespace npu::compare
