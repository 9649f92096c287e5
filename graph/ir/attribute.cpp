// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/attribute.h"

#include <array>

#include "base/half.h"

namespace npu::graph {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<Attribute>> kKindNames = {"unsupported value",
                                                                                     "int",
                                                                                     "float",
                                                                                     "bool",
                                                                                     "string",
                                                                                     "type",
                                                                                     "shape",
                                                                                     "tensor",
                                                                                     "function",
                                                                                     "list of ints",
                                                                                     "list of floats",
                                                                                     "list of bools",
                                                                                     "list of strings",
                                                                                     "list of types",
                                                                                     "list of shapes",
                                                                                     "list of functions"};

constexpr size_t kShownElements = 8;
constexpr size_t kShownCharacters = 60;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text.substr(0, kShownCharacters)) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    out += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out + (text.size() > kShownCharacters ? "…\"" : "\"");
}

/// "[a, b, …]" from the texts of the first elements.
template <class Element>
std::string listed(size_t count, Element&& element) {
  std::string out;
  for (size_t i = 0; i < std::min(count, kShownElements); ++i) out += (i == 0 ? "" : ", ") + element(i);
  return "[" + out + (count > kShownElements ? ", …]" : "]");
}

template <class T>
std::string number(const T& value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return fmt::format("{}", static_cast<float>(value));
  else if constexpr (std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>)
    return fmt::format("{}{:+}i", value.real(), value.imag());
  else if constexpr (sizeof(T) == 1 && !std::is_same_v<T, bool>)
    return fmt::format("{}", static_cast<int>(value));
  else
    return fmt::format("{}", value);
}

std::string elements(const Literal& literal) {
  if (literal.strings) return listed(literal.strings->size(), [&](size_t i) { return quoted((*literal.strings)[i]); });
  std::string out;
  visit_dtype(literal.type.dtype, [&](auto zero) {
    const auto* values = literal.as<decltype(zero)>();
    out = listed(static_cast<size_t>(literal.count()), [&](size_t i) { return number(values[i]); });
  });
  return out;
}

struct Show {
  std::string operator()(std::monostate) const { return "(unsupported)"; }
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return fmt::format("{}", v); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(const std::string& v) const { return quoted(v); }
  std::string operator()(const ValueType& v) const { return graph::to_string(v); }
  std::string operator()(const PartialShape& v) const { return graph::to_string(v); }
  std::string operator()(const FunctionName& v) const { return "@" + v.name; }
  std::string operator()(const Literal& v) const {
    const std::string head = graph::to_string(v.type) + graph::to_string(PartialShape{v.shape});
    return v.bytes || v.strings ? head + elements(v) : head;
  }
  template <class T>
  std::string operator()(const std::vector<T>& v) const {
    return listed(v.size(), [&](size_t i) { return (*this)(static_cast<const T&>(T(v[i]))); });
  }
};

}  // namespace

bool Literal::operator==(const Literal& other) const {
  const bool same_strings = strings == other.strings || (strings && other.strings && *strings == *other.strings);
  return type == other.type && shape == other.shape && bytes == other.bytes && same_strings;
}

std::string_view kind_name(const Attribute& attribute) { return kKindNames[attribute.index()]; }

std::string to_string(const Attribute& attribute) { return std::visit(Show{}, attribute); }

void Attributes::set(std::string name, Attribute value, std::string raw) {
  entries_.insert_or_assign(std::move(name), Entry{std::move(value), std::move(raw)});
}

void Attributes::wrong_kind(std::string_view name, std::string_view wanted, const Attribute& got) {
  fail(Code::kNnInvalidParam, "attribute {} is the {} {}; it must be of kind {}", name, kind_name(got), to_string(got),
       wanted);
}

void Attributes::absent(std::string_view name) { fail(Code::kNnInvalidParam, "attribute {} is missing", name); }

}  // namespace npu::graph
