// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/cell.h"

namespace npu::profile {

std::array<std::string, 3> parts_of(std::string_view text) {
  std::array<std::string, 3> parts;
  if (text.empty()) return {"N/A", "N/A", "N/A"};
  for (std::string& part : parts) {
    const size_t end = text.find('|');
    part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  parts[0] = '"' + parts[0] + '"';
  return parts;
}

std::string cell(std::string_view text) {
  if (text.find_first_of(",\";\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += c;
    out += c;
  }
  return out + '"';
}

}  // namespace npu::profile
