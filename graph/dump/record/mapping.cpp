// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "base/hash.h"
#include "base/text.h"
#include "graph/dump/record/mapped_file.h"

namespace npu::graph::record {
namespace {

std::string_view without_quotes(std::string_view cell) {
  const bool quoted = cell.size() >= 2 && cell.front() == '"' && cell.back() == '"';
  return quoted ? cell.substr(1, cell.size() - 2) : cell;
}

}  // namespace

StoredName stored_name(std::string name) {
  if (name.size() <= kLongestName) return {std::move(name), ""};
  std::string digits = fmt::format("{:020}", hash_of(name));
  std::string line = fmt::format("{},{}\n", digits, name);
  return {std::move(digits), std::move(line)};
}

Mapping parse_mapping(std::string_view text) {
  Mapping found;
  each_line(text, [&](std::string_view line) {
    const size_t comma = line.find(',');
    if (comma == line.npos || comma == 0 || comma + 1 == line.size()) return;
    found.insert_or_assign(std::string(without_quotes(line.substr(0, comma))),
                           std::string(without_quotes(line.substr(comma + 1))));
  });
  return found;
}

Mapping read_mapping(const std::string& folder) {
  const auto path = std::filesystem::path(folder) / kMappingFile;
  return std::filesystem::is_regular_file(path) ? parse_mapping(MappedFile(path).text()) : Mapping{};
}

}  // namespace npu::graph::record
