// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/text/words.h"

namespace npu::migrate {

std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  return out;
}

std::string one_line(std::string_view text) {
  constexpr size_t kMost = 120;
  std::string out = squeezed(text);
  if (out.size() > kMost) out = out.substr(0, kMost) + "…";
  return out;
}

}  // namespace npu::migrate
