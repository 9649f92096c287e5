// SPDX-License-Identifier: Apache-2.0
// Lists in one text, as settings and tables of ours hold them.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace npu {

/// The parts of `text` between separators, which lie in its memory. Empty parts are kept, but a separator at the end
/// begins no part, and an empty text has none.
inline std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    parts.push_back(text.substr(0, text.find(separator)));
    text.remove_prefix(std::min(text.size(), parts.back().size() + separator.size()));
  }
  return parts;
}

}  // namespace npu
