// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/side/array_name.h"

#include <charconv>

namespace npu::compare {
namespace {

/// The number behind the last dot, which is taken off.
std::optional<uint64_t> take_number(std::string_view& name) {
  const size_t dot = name.rfind('.');
  if (dot == name.npos || dot == 0) return std::nullopt;
  uint64_t value = 0;
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + dot + 1, end, value);
  if (error != std::errc{} || at != end || dot + 1 == name.size()) return std::nullopt;
  name = name.substr(0, dot);
  return value;
}

}  // namespace

std::optional<ArrayName> parse_array_name(std::string_view file) {
  constexpr std::string_view kEnding = ".npy";
  if (!file.ends_with(kEnding)) return std::nullopt;
  file.remove_suffix(kEnding.size());
  const auto timestamp = take_number(file);
  const auto output = timestamp ? take_number(file) : std::nullopt;
  if (!output) return std::nullopt;
  return ArrayName{std::string(file), static_cast<size_t>(*output), *timestamp};
}

}  // namespace npu::compare
