// SPDX-License-Identifier: Apache-2.0
// Reading files that people write: every refusal tells line and column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/json.h"

namespace npu {

/// The line, from 1, in which byte `at` of `text` lies.
int64_t line_of(std::string_view text, size_t at);
/// Raises 161002 with the line and the column of byte `at`.
[[noreturn]] void malformed(std::string_view text, size_t at, std::string_view what);
/// Without blanks at either end.
std::string_view trimmed(std::string_view text);

/// With small letters of ASCII in the place of large ones.
std::string lowered(std::string_view text);

/// Where the member `name` stands in a text of JSON; its end for none.
size_t member_place(std::string_view text, std::string_view name);
/// JSON with or without remarks and commas after the last member. Raises 161002 with the parser's reason and where it
/// stopped.
Json parse_json(std::string_view text);

/// Calls `visit(line)` for each line that is neither blank nor a comment (# or ;); `line` is a part of `text`, without
/// blanks at either end.
template <class Visit>
void each_line(std::string_view text, Visit&& visit) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    if (!line.empty() && line.front() != '#' && line.front() != ';') visit(line);
    at = end + 1;
  }
}

/// Where `part` begins in `text`, of which it is a part.
inline size_t place_of(std::string_view part, std::string_view text) {
  return static_cast<size_t>(part.data() - text.data());
}

}  // namespace npu
