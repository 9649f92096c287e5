// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <utility>

#include "tools/profile/report/finding/finding.h"
#include "tools/profile/report/page/escape.h"

namespace npu::profile {
namespace {

constexpr size_t kBars = 240, kReasons = 3;
constexpr double kWidth = 960, kHeight = 160;
constexpr double kUnlike = 1.1;  // times the median: below it no step is slow

std::string summary_of(const std::vector<StepPart>& parts) {
  return fmt::format("{}, {} ms (median), {} ms the longest (step {})", parts.size(),
                     milliseconds(median_of(parts).length()), milliseconds(slowest_of(parts).length()),
                     slowest_of(parts).number);
}

/// "step 17 took 28.300 ms more than the median (step 9): + 25.000 ms idle: …, + 2.100 ms MatMulV2"
std::string slowest_words(const Facts& facts) {
  const StepPart &usual = median_of(facts.step_parts), &slow = slowest_of(facts.step_parts);
  if (static_cast<double>(slow.length()) < kUnlike * static_cast<double>(usual.length())) return "";
  std::vector<std::string> reasons;
  for (const More& more :
       more_in(*facts.trace, facts.tasks, facts.idle, slow.when, usual.when) | std::views::take(kReasons))
    reasons.push_back(fmt::format("+ {} ms {}", milliseconds(more.time), more.what));
  return fmt::format("step {} took {} ms more than the median (step {}): {}", slow.number,
                     milliseconds(slow.length() - usual.length()), usual.number, fmt::join(reasons, ", "));
}

using Shown = std::array<std::pair<const char*, int64_t>, 4>;

Shown shown_of(const StepPart& part) {
  return {{{"computes", part.computing},
           {"communicates alone", part.communication},
           {"copies alone", part.copies},
           {"idle", part.idle}}};
}

/// The longest of each `together` that follow each other.
std::vector<const StepPart*> bars_of(const std::vector<StepPart>& parts, size_t together) {
  std::vector<const StepPart*> bars;
  for (size_t i = 0; i < parts.size(); ++i)
    if (i % together == 0)
      bars.push_back(&parts[i]);
    else if (parts[i].length() > bars.back()->length())
      bars.back() = &parts[i];
  return bars;
}

void add_bar(std::string& out, const StepPart& part, double left, double wide, double per_pixel) {
  std::string words = fmt::format("step {}: {} ms", part.number, milliseconds(part.length()));
  for (const auto& [name, time] : shown_of(part))
    if (time > 0) words += fmt::format(", {} {} ms", name, milliseconds(time));
  fmt::format_to(std::back_inserter(out), "<g><title>{}</title>", words);
  double top = kHeight;
  size_t kind = 0;
  for (const auto& [name, time] : shown_of(part)) {
    const double high = static_cast<double>(time) / per_pixel;
    top -= high;
    if (time > 0)
      fmt::format_to(std::back_inserter(out),
                     "<rect class=\"part{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", kind,
                     left, top, std::max(0.5, wide - (wide > 4 ? 1 : 0)), high);
    ++kind;
  }
  out += "</g>\n";
}

std::string picture_of(const std::vector<StepPart>& parts, size_t together) {
  const std::vector<const StepPart*> bars = bars_of(parts, together);
  const double per_pixel = static_cast<double>(slowest_of(parts).length()) / kHeight;
  const double wide = std::min(40.0, kWidth / static_cast<double>(bars.size()));
  std::string out = fmt::format(
      "<svg class=\"steps\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" "
      "aria-label=\"a bar for each step: {2}\">\n",
      kWidth, kHeight, summary_of(parts));
  for (size_t i = 0; i < bars.size(); ++i) add_bar(out, *bars[i], static_cast<double>(i) * wide, wide, per_pixel);
  return out + "</svg>\n";
}

std::string legend() {
  std::string out = "<p class=\"small\">";
  size_t kind = 0;
  for (const auto& [name, time] : shown_of({}))
    fmt::format_to(std::back_inserter(out), "<span class=\"key part{}\"></span> {} ", kind++, name);
  return out + "</p>\n";
}

}  // namespace

std::string steps_text(const Facts& facts) {
  if (facts.step_parts.empty()) return "";
  std::string out = fmt::format("\nSTEPS: {}\n", summary_of(facts.step_parts));
  if (const std::string slowest = slowest_words(facts); !slowest.empty()) out += "  " + slowest + "\n";
  return out;
}

std::string steps_html(const Facts& facts) {
  if (facts.step_parts.empty()) return "";
  const size_t together = (facts.step_parts.size() + kBars - 1) / kBars;
  std::string out = fmt::format("<h2>Steps of {}</h2>\n<p>{}", escaped(facts.name), summary_of(facts.step_parts));
  if (const std::string slowest = slowest_words(facts); !slowest.empty()) out += "<br><b>" + escaped(slowest) + "</b>";
  if (together > 1) out += fmt::format("<br>Each bar is the longest of {} steps.", together);
  return out + "</p>\n" + picture_of(facts.step_parts, together) + legend();
}

}  // namespace npu::profile
