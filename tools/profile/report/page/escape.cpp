// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/escape.h"

namespace npu::profile {
namespace {

std::string_view entity_of(char c) {
  switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    default: return {};
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const std::string_view entity = entity_of(c);
    entity.empty() ? out += c : out += entity;
  }
  return out;
}

std::string inside_script(std::string json) {
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
  return json;
}

}  // namespace npu::profile
