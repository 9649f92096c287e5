// SPDX-License-Identifier: Apache-2.0
// The named constants of a node. A client's own encoding of an attribute is kept beside its value (Attributes::raw), so
// that a node which must run in the client's framework is handed back to it word for word.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/ir/elements.h"
#include "graph/ir/value_type.h"

namespace npu::graph {

/// A constant tensor: dense numbers in row-major order, or strings.
struct Literal {
  ValueType type;
  Dims shape;
  Elements bytes;                                           ///< numbers; null for strings
  std::shared_ptr<const std::vector<std::string>> strings;  ///< elements of a string tensor
  int64_t count() const { return count_of(shape); }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes->data());
  }
  /// Equal types, shapes and elements, bit for bit.
  bool operator==(const Literal& other) const;
};

/// The function an attribute names: the body of a loop, a branch.
struct FunctionName {
  std::string name;
  bool operator==(const FunctionName&) const = default;
};

using Attribute =
    std::variant<std::monostate, int64_t, double, bool, std::string, ValueType, PartialShape, Literal, FunctionName,
                 std::vector<int64_t>, std::vector<double>, std::vector<bool>, std::vector<std::string>,
                 std::vector<ValueType>, std::vector<PartialShape>, std::vector<FunctionName>>;

/// "int", "list of shapes" …: the kind of value as error texts call it.
std::string_view kind_name(const Attribute& attribute);
/// The value in one line, long ones cut: what graph dumps show.
std::string to_string(const Attribute& attribute);

class Attributes {
 public:
  /// Adds or replaces; `raw` is the client's encoding and may be empty.
  void set(std::string name, Attribute value, std::string raw = {});
  bool has(std::string_view name) const { return entries_.contains(name); }
  /// The attribute as a T, or null when it is absent. Raises 161002 when it holds another kind of value.
  template <class T>
  const T* find(std::string_view name) const {
    const auto at = entries_.find(name);
    if (at == entries_.end()) return nullptr;
    const T* value = std::get_if<T>(&at->second.value);
    if (value == nullptr) value = empty_list<T>(at->second.value);
    if (value == nullptr) wrong_kind(name, kind_name(Attribute(T{})), at->second.value);
    return value;
  }
  /// The attribute as a T. Raises 161002 when it is absent or holds another kind of value.
  template <class T>
  const T& get(std::string_view name) const {
    const T* value = find<T>(name);
    if (value == nullptr) absent(name);
    return *value;
  }
  template <class T>
  T get_or(std::string_view name, T other) const {
    const T* value = find<T>(name);
    return value == nullptr ? other : *value;
  }

  struct Entry {
    Attribute value;
    std::string raw;
  };
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

 private:
  /// A list without members reads as no ints; it is a list of any kind.
  template <class T>
  static const T* empty_list(const Attribute& value) {
    static const T none{};
    const auto* ints = std::get_if<std::vector<int64_t>>(&value);
    const bool list = kind_name(Attribute(none)).starts_with("list");
    return list && ints != nullptr && ints->empty() ? &none : nullptr;
  }
  [[noreturn]] static void wrong_kind(std::string_view name, std::string_view wanted, const Attribute& got);
  [[noreturn]] static void absent(std::string_view name);
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace npu::graph
