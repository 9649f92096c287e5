// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>

#include "base/error.h"
#include "base/json_text.h"

namespace npu {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// What the parser says, without its own number and position.
std::string reason(std::string_view what) {
  const size_t at = what.find(": ", what.find("column"));
  return std::string(at == std::string_view::npos ? what : what.substr(at + 2));
}

/// The part between quotes of what the parser says.
std::string quoted(std::string_view what) {
  const size_t begin = what.find('\''), end = what.rfind('\'');
  return std::string(begin == end ? what : what.substr(begin + 1, end - begin - 1));
}

}  // namespace

int64_t line_of(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  return std::count(before.begin(), before.end(), '\n') + 1;
}

void malformed(std::string_view text, size_t at, std::string_view what) {
  at = std::min(at, text.size());
  const size_t newline = text.substr(0, at).rfind('\n');
  const size_t column = newline == std::string_view::npos ? at + 1 : at - newline;
  fail(Code::kNnInvalidParam, "line {}, column {}: {}", line_of(text, at), column, what);
}

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

size_t member_place(std::string_view text, std::string_view name) {
  return std::min(text.find(fmt::format("\"{}\"", name)), text.size());
}

Json parse_json(std::string_view text) {
  try {
    return Json::parse(strict_json(text));
  } catch (const JsonParseError& e) {
    if (e.id() == JsonParseError::kNumberTooLarge) {
      const std::string number = quoted(e.what());
      malformed(text, text.find(number), number + " is a number that is too large");
    }
    // The byte is counted from 1 and is the last one read.
    malformed(text, e.byte() == 0 ? 0 : e.byte() - 1,
              "this is no JSON (which has a comma between members): " + reason(e.what()));
  }
}

}  // namespace npu
