// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/tensor/npy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "graph/dump/record/format.h"
#include "tools/compare/exit/refusal.h"

namespace npu::compare {
namespace {

namespace record = graph::record;
constexpr std::string_view kMagic = "\x93NUMPY";

constexpr std::array<std::pair<std::string_view, int32_t>, 15> kTypes = {{{"<f4", 1},
                                                                          {"<f2", 2},
                                                                          {"|i1", 3},
                                                                          {"|u1", 4},
                                                                          {"<i2", 5},
                                                                          {"<u2", 6},
                                                                          {"<i4", 7},
                                                                          {"<i8", 8},
                                                                          {"<u4", 9},
                                                                          {"<u8", 10},
                                                                          {"|b1", 11},
                                                                          {"<f8", 12},
                                                                          {"<c8", 16},
                                                                          {"<c16", 17},
                                                                          {"<V2", 27}}};

[[noreturn]] void refuse(std::string_view file, std::string_view reason) {
  throw Refusal(Exit::kDamaged, fmt::format("{} is no array of NumPy that can be compared: {}", file, reason));
}

/// What stands behind `'key':` in the header's dictionary.
std::string_view value_of(std::string_view header, std::string_view key, std::string_view file) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == header.npos) refuse(file, fmt::format("its header has no {}", key));
  std::string_view rest = header.substr(at + key.size() + 3);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return rest;
}

std::string_view header_of(std::string_view text, std::string_view file) {
  if (!text.starts_with(kMagic) || text.size() < 12) refuse(file, "it does not begin as one");
  const size_t bytes = text[6] == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = bytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(text[8 + i]);
  if (length > text.size() - 8 - bytes) refuse(file, "it ends within its header");
  return text.substr(8 + bytes, length);
}

Shape shape_of(std::string_view text, std::string_view file) {
  Shape shape;
  if (!text.starts_with('(')) refuse(file, "its shape is none");
  for (size_t at = 1; at < text.size() && text[at] != ')';) {
    uint64_t size = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), size);
    if (error != std::errc{}) refuse(file, "its shape is none");
    shape.push_back(size);
    at = static_cast<size_t>(end - text.data());
    while (at < text.size() && (text[at] == ',' || text[at] == ' ' || text[at] == 'L')) ++at;
  }
  return shape;
}

int32_t type_of(std::string_view text, std::string_view file) {
  const std::string_view name = text.substr(0, text.find('\'', 1)).substr(1);
  const auto at = std::ranges::find_if(kTypes, [&](const auto& type) { return type.first == name; });
  if (at == kTypes.end()) refuse(file, fmt::format("its elements are {}", name));
  return at->second;
}

}  // namespace

Tensor parse_npy(Bytes bytes, std::string_view file) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view header = header_of(text, file);
  if (value_of(header, "fortran_order", file).starts_with("True"))
    refuse(file, "its columns come first; save it in C order");
  Tensor found;
  const std::string_view type = value_of(header, "descr", file);
  if (!type.starts_with('\'')) refuse(file, "its elements are structures");
  found.facts.data_type = type_of(type, file);
  found.facts.format = record::kReserved;
  found.facts.shape = shape_of(value_of(header, "shape", file), file);
  found.bytes = bytes.subspan(static_cast<size_t>(header.data() - text.data()) + header.size());
  found.facts.size = found.bytes.size();
  plain_view(found);
  return found;
}

std::string_view npy_type(const DataType& type) {
  const auto at = std::ranges::find_if(kTypes, [&](const auto& known) { return known.second == type.number; });
  return at == kTypes.end() || type.number == 27 ? "" : at->first;
}

std::string npy_header(std::string_view descr, const Shape& shape) {
  const std::string sizes = fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, sizes);
  const size_t whole = (10 + header.size() + 1 + 63) / 64 * 64;
  header.resize(whole - 11, ' '), header.push_back('\n');
  const auto length = static_cast<uint16_t>(header.size());
  std::string found(kMagic);
  found.append({'\x01', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)});
  return found + header;
}

}  // namespace npu::compare
