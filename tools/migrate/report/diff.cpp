// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/report/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/migrate/text/source.h"

namespace npu::migrate {
namespace {

constexpr size_t kContext = 3;

void put(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

/// "3,2" of lines [begin, end); an empty range names the line before it.
std::string range(size_t begin, size_t end) {
  if (end - begin == 1) return fmt::format("{}", begin);
  return fmt::format("{},{}", begin == end ? begin - 1 : begin, end - begin);
}

}  // namespace

std::vector<Hunk> hunks(const std::vector<LineSpan>& lines, size_t context, size_t before_count, size_t after_count) {
  std::vector<Hunk> out;
  for (const LineSpan& part : lines) {
    const size_t above = std::min(context, part.begin - 1);
    const LineSpan wide{part.begin - above, std::min(part.end + context, before_count + 1), part.after_begin - above,
                        std::min(part.after_end + context, after_count + 1)};
    if (out.empty() || out.back().whole.end < wide.begin)
      out.push_back({wide, {}});
    else
      out.back().whole.end = wide.end, out.back().whole.after_end = wide.after_end;
    out.back().parts.push_back(part);
  }
  return out;
}

std::string unified_diff(const FileResult& file) {
  const auto before = split_lines(file.before), after = split_lines(file.after);
  std::string out;
  for (const Hunk& hunk : hunks(file.lines, kContext, before.size(), after.size())) {
    if (out.empty()) out = fmt::format("--- a/{}\n+++ b/{}\n", file.path, file.path);
    const LineSpan& whole = hunk.whole;
    out += fmt::format("@@ -{} +{} @@\n", range(whole.begin, whole.end), range(whole.after_begin, whole.after_end));
    size_t at = whole.begin;
    for (const LineSpan& part : hunk.parts) {
      for (; at < part.begin; ++at) put(out, ' ', before[at - 1]);
      for (; at < part.end; ++at) put(out, '-', before[at - 1]);
      for (size_t i = part.after_begin; i < part.after_end; ++i) put(out, '+', after[i - 1]);
    }
    for (; at < whole.end; ++at) put(out, ' ', before[at - 1]);
  }
  return out;
}

}  // namespace npu::migrate
