// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>

#include "tools/profile/report/finding/finding.h"
#include "tools/profile/report/page/escape.h"

namespace npu::profile {
namespace {

constexpr size_t kHolders = 8;
constexpr double kWidth = 900, kHeight = 120, kAxis = 18;

std::string megabytes(uint64_t bytes) { return fmt::format("{:.1f}", static_cast<double>(bytes) / 1e6); }

std::string summary(const Facts& facts) {
  return fmt::format("at most {} MB, {} ms after its first operator began", megabytes(facts.memory.peak),
                     milliseconds(std::max<int64_t>(0, facts.memory.at - facts.span.start)));
}

/// Of all points in a column of the picture the highest and the last: a picture has no room for more.
std::vector<MemoryUse::Point> drawn(const std::vector<MemoryUse::Point>& points, Interval span) {
  std::vector<MemoryUse::Point> found;
  int64_t column = -1;
  const int64_t wide = std::max<int64_t>(1, (span.end - span.start) / static_cast<int64_t>(kWidth));
  for (const MemoryUse::Point& point : points) {
    const bool is_new = (point.time - span.start) / wide != column;
    column = (point.time - span.start) / wide;
    if (is_new) {
      found.insert(found.end(), 2, point);
    } else {
      if (point.bytes > found[found.size() - 2].bytes) found[found.size() - 2] = point;
      found.back() = point;
    }
  }
  return found;
}

/// Steps from left to right, the peak at the top.
std::string curve(const Facts& facts) {
  const auto& points = facts.memory.points;
  const Interval span{std::min(points.front().time, facts.span.start), std::max(points.back().time, facts.span.end)};
  const auto length = static_cast<double>(std::max<int64_t>(1, span.end - span.start));
  std::string path;
  double height = kHeight;
  for (const MemoryUse::Point& point : drawn(points, span)) {
    const double x = kWidth * static_cast<double>(point.time - span.start) / length;
    fmt::format_to(std::back_inserter(path), "{}{:.1f},{:.1f} ", path.empty() ? "" : "L", x, height);
    height = kHeight -
             kHeight * static_cast<double>(point.bytes) / static_cast<double>(std::max<uint64_t>(1, facts.memory.peak));
    fmt::format_to(std::back_inserter(path), "L{:.1f},{:.1f} ", x, height);
  }
  return fmt::format(
      "<svg class=\"memory\" viewBox=\"0 0 {0:.0f} {4:.0f}\" width=\"{0:.0f}\" height=\"{4:.0f}\" role=\"img\" "
      "aria-label=\"memory over time: {5}\"><path d=\"M0,{1:.0f} L{2}L{0:.0f},{3:.1f} L{0:.0f},{1:.0f} Z\" "
      "fill=\"currentColor\" fill-opacity=\"0.35\"/><text x=\"2\" y=\"12\">{6} MB</text><text x=\"2\" "
      "y=\"{7:.0f}\">0</text><text x=\"{0:.0f}\" y=\"{7:.0f}\" text-anchor=\"end\">{8} ms</text></svg>\n",
      kWidth, kHeight, path, height, kHeight + kAxis, summary(facts), megabytes(facts.memory.peak), kHeight + 14,
      milliseconds(span.end - span.start));
}

}  // namespace

std::string memory_text(const Facts& facts) {
  if (facts.memory.points.empty()) return "";
  std::string out = fmt::format("\nMEMORY of {}: {}\n", facts.name, summary(facts));
  fmt::format_to(std::back_inserter(out), "  {:<52} {:>12} {:>8}\n", "asked for before", "MB", "blocks");
  for (const Holder& one : facts.memory.holders | std::views::take(kHolders))
    fmt::format_to(std::back_inserter(out), "  {:<52} {:>12} {:>8}\n", one.name, megabytes(one.bytes), one.blocks);
  return out;
}

std::string memory_html(const Facts& facts) {
  if (facts.memory.points.empty()) return "";
  std::string out =
      fmt::format("<h2>Memory of {}</h2>\n<p>{}</p>\n{}", escaped(facts.name), summary(facts), curve(facts));
  out += "<table><tr><th>asked for before</th><th>MB</th><th>blocks</th></tr>\n";
  for (const Holder& one : facts.memory.holders | std::views::take(kHolders))
    fmt::format_to(std::back_inserter(out), "<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", escaped(one.name),
                   megabytes(one.bytes), one.blocks);
  return out + "</table>\n";
}

}  // namespace npu::profile
