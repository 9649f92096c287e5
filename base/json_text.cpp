// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

#include <algorithm>

namespace npu {
namespace {

constexpr size_t kNone = std::string::npos;

size_t end_of_string(std::string_view text, size_t quote) {
  for (size_t at = quote + 1; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return text.size();
}

/// The end of the remark that begins at `at`; kNone where none begins, or one that nobody ends.
size_t end_of_remark(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (!rest.starts_with("/*")) return kNone;
  const size_t end = text.find("*/", at + 2);
  return end == kNone ? kNone : end + 2;
}

void blank(std::string& text, size_t from, size_t to) {
  for (size_t at = from; at < to; ++at)
    if (text[at] != '\n' && text[at] != '\r') text[at] = ' ';
}

}  // namespace

std::string strict_json(std::string_view text) {
  std::string out(text);
  char before = '{';     // the last thing before `at` that is neither blank nor a remark
  size_t comma = kNone;  // where it is, if it is a comma that follows a value
  for (size_t at = 0; at < out.size();) {
    const char c = out[at];
    if (const size_t end = end_of_remark(out, at); end != kNone) {
      blank(out, at, end);
      at = end;
      continue;
    }
    if ((c == '}' || c == ']') && comma != kNone) out[comma] = ' ';
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      comma = c == ',' && before != '{' && before != '[' ? at : kNone;
      before = c;
    }
    at = c == '"' ? end_of_string(out, at) : at + 1;
  }
  return out;
}

}  // namespace npu
