// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/page/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace npu::compare {

std::string escaped(std::string_view text) {
  std::string found;
  for (const char c : text) {
    if (c == '<')
      found += "&lt;";
    else if (c == '>')
      found += "&gt;";
    else if (c == '&')
      found += "&amp;";
    else if (c == '"')
      found += "&quot;";
    else
      found += c;
  }
  return found;
}

const Deviation* worst_of(const Finding& finding) {
  const Deviation* worst = nullptr;
  for (const Deviation& d : finding.outputs)
    if (d.known && (worst == nullptr || d.relative() > worst->relative())) worst = &d;
  return worst;
}

std::string colour(const Deviation* deviation) {
  if (deviation == nullptr) return "#bbb";
  const double off = deviation->relative();
  const double share = off == 0 ? 0 : std::clamp((std::log10(std::min(off, 1.0)) + 8) / 8, 0.0, 1.0);
  return fmt::format("hsl({:.0f},80%,50%)", 120 * (1 - share));
}

}  // namespace npu::compare
