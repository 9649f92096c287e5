// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/dump_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace npu::graph::record {
namespace {

constexpr size_t kMostFields = 9;

/// The parts between dots; nothing where there are more than any name has.
std::optional<size_t> split(std::string_view text, std::array<std::string_view, kMostFields>& fields) {
  size_t count = 0;
  for (size_t at = 0; at <= text.size(); ++count) {
    if (count == kMostFields) return std::nullopt;
    const size_t end = std::min(text.find('.', at), text.size());
    fields[count] = text.substr(at, end - at);
    at = end + 1;
  }
  return count;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool read_number(std::string_view text, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// `_lxslice12` at the end is cut off.
std::string_view without_end_mark(std::string_view name) {
  constexpr std::string_view mark = "_lxslice";
  const size_t at = name.find(mark);
  if (at == name.npos || at + mark.size() == name.size()) return name;
  return std::ranges::all_of(name.substr(at + mark.size()), is_digit) ? name.substr(0, at) : name;
}

/// What stands before the operator's own name, up to the last `sgt_graph_12_`, is cut off.
std::string_view without_front_mark(std::string_view name) {
  constexpr std::string_view mark = "sgt_graph_";
  size_t at = name.rfind(mark);
  if (at == name.npos) return name;
  const size_t digits = at + mark.size();
  at = digits;
  while (at < name.size() && is_digit(name[at])) ++at;
  return at == digits || at + 1 >= name.size() ? name : name.substr(at + 1);
}

}  // namespace

std::string path_word(std::string_view text) {
  std::string word(text);
  std::ranges::replace_if(word, [](char c) { return c == '/' || c == '\\' || c == '.' || c == ' '; }, '_');
  return word;
}

std::string make_name(const DumpName& name) {
  std::string file = fmt::format("{}.{}.{}", path_word(name.op_type), path_word(name.op_name), name.task);
  if (name.stream) file += fmt::format(".{}", *name.stream);
  file += fmt::format(".{:016}", name.timestamp);
  if (const auto& slice = name.slice)
    file += fmt::format(".{}.{}.{}.{}", slice->task_type, slice->context, slice->thread, slice->device);
  return file;
}

std::optional<DumpName> parse_name(std::string_view file) {
  std::array<std::string_view, kMostFields> fields;
  const auto count = split(file, fields);
  if (!count || (*count != 4 && *count != 5 && *count != kMostFields)) return std::nullopt;
  if (fields[0].empty() || fields[1].empty()) return std::nullopt;
  std::array<uint64_t, kMostFields> numbers{};
  for (size_t i = 2; i < *count; ++i)
    if (!read_number(fields[i], numbers[i])) return std::nullopt;
  DumpName name{std::string(fields[0]), std::string(fields[1]), numbers[2], std::nullopt, numbers[3], std::nullopt};
  if (*count == 4) return name;
  name.stream = numbers[3], name.timestamp = numbers[4];
  if (*count == kMostFields) name.slice = {numbers[5], numbers[6], numbers[7], numbers[8]};
  return name;
}

std::string without_slice(std::string_view op_name) {
  return std::string(without_front_mark(without_end_mark(op_name)));
}

}  // namespace npu::graph::record
