// SPDX-License-Identifier: Apache-2.0
#include "graph/precision/text.h"

#include <algorithm>

#include "base/error.h"

namespace npu::graph {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

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

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace npu::graph
