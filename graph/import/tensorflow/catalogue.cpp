// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/catalogue.h"

#include <algorithm>
#include <utility>

#include "graph/import/tensorflow/value.h"

namespace npu::graph::tensorflow {
namespace {

/// Longest list a node's number attribute may ask for; more is damage, not a graph.
constexpr int64_t kMostTensors = 1 << 20;

Formal read_formal(Bytes arg_def) {
  Formal formal;
  each_field(arg_def, [&](Field f) {
    switch (f.number()) {
      case field::kArgName: formal.name = f.text(); break;
      case field::kType:
        if (const int64_t type = f.integer(); type != 0) formal.type = value_type(type);
        break;
      case field::kTypeAttr: formal.type_attr = f.text(); break;
      case field::kNumberAttr: formal.number_attr = f.text(); break;
      case field::kTypeListAttr: formal.type_list_attr = f.text(); break;
      case field::kIsRef: formal.reference = f.boolean(); break;
      default: break;
    }
  });
  return formal;
}

template <class T>
std::vector<T> list_of(Attribute attribute) {
  auto* list = std::get_if<std::vector<T>>(&attribute);
  return list == nullptr ? std::vector<T>{} : std::move(*list);
}

void read_attribute_def(Bytes attr_def, Signature& signature) {
  AttributeRule rule;
  std::optional<std::string> value;
  int64_t minimum = 0;
  bool bounded = false;
  each_field(attr_def, [&](Field f) {
    switch (f.number()) {
      case field::kAttrName: rule.name = f.text(); break;
      case field::kDefault: value = f.text(); break;
      case field::kHasMinimum: bounded = f.boolean(); break;
      case field::kMinimum: minimum = f.integer(); break;
      case field::kAllowed: {
        const Bytes allowed = f.bytes();
        rule.types = list_of<ValueType>(read_attribute(allowed));
        rule.words = list_of<std::string>(read_attribute(allowed));
        break;
      }
      default: break;
    }
  });
  signature.attributes.insert(rule.name);
  if (value) signature.defaults.emplace(rule.name, std::move(*value));
  if (bounded) rule.minimum = minimum;
  if (bounded || !rule.types.empty() || !rule.words.empty()) signature.rules.push_back(std::move(rule));
}

template <class T>
bool among(const std::vector<T>& allowed, const T& one) {
  return std::find(allowed.begin(), allowed.end(), one) != allowed.end();
}

/// Whether an attribute's value keeps to a rule; kinds of values that the rule is not about do.
struct Keeps {
  const AttributeRule& rule;

  bool operator()(int64_t v) const { return !rule.minimum || v >= *rule.minimum; }
  bool operator()(const std::string& v) const { return rule.words.empty() || among(rule.words, v); }
  bool operator()(const ValueType& v) const { return rule.types.empty() || among(rule.types, v); }
  template <class T>
  bool operator()(const std::vector<T>& list) const {
    const bool long_enough = !rule.minimum || std::cmp_greater_equal(list.size(), *rule.minimum);
    if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, bool>)
      return long_enough;  // the minimum is that of the length
    else
      return long_enough && std::all_of(list.begin(), list.end(), *this);
  }
  template <class T>
  bool operator()(const T&) const {
    return true;
  }
};

}  // namespace

Signature read_signature(Bytes op_def) {
  Signature s;
  each_field(op_def, [&](Field f) {
    switch (f.number()) {
      case field::kOpName: s.name = f.text(); break;
      case field::kInputArg: s.inputs.push_back(read_formal(f.bytes())); break;
      case field::kOutputArg: s.outputs.push_back(read_formal(f.bytes())); break;
      case field::kOpAttr: read_attribute_def(f.bytes(), s); break;
      case field::kIsStateful: s.stateful = f.boolean(); break;
      default: break;
    }
  });
  return s;
}

std::vector<ValueType> types_of(const Formal& formal, const Attributes& attributes) {
  if (!formal.type_list_attr.empty()) return attributes.get<std::vector<ValueType>>(formal.type_list_attr);
  const ValueType type = formal.type ? *formal.type : attributes.get<ValueType>(formal.type_attr);
  const int64_t count = formal.number_attr.empty() ? 1 : attributes.get<int64_t>(formal.number_attr);
  require(count >= 0 && count <= kMostTensors, "attribute {} is {}; it counts the tensors of {}", formal.number_attr,
          count, formal.name);
  return std::vector<ValueType>(static_cast<size_t>(count), type);
}

std::vector<ValueType> types_of(const std::vector<Formal>& formals, const Attributes& attributes) {
  std::vector<ValueType> all;
  for (const Formal& formal : formals)
    for (const ValueType type : types_of(formal, attributes)) all.push_back(type);
  return all;
}

void check_attributes(const Signature& signature, const Attributes& attributes) {
  for (const AttributeRule& rule : signature.rules) {
    const auto at = attributes.entries().find(rule.name);
    if (at == attributes.entries().end()) continue;  // whoever reads it says that it is missing
    require(std::visit(Keeps{rule}, at->second.value), "attribute {} is {}, which {} does not allow", rule.name,
            to_string(at->second.value), signature.name);
  }
}

Catalogue::Catalogue(Bytes op_list) {
  parsed("the list of operators", [&] {
    each_field(op_list, [&](Field f) {
      if (f.number() != field::kOpDef) return;
      Signature s = read_signature(f.bytes());
      signatures_.insert_or_assign(s.name, std::move(s));
    });
  });
}

Catalogue::Catalogue(std::vector<Signature> signatures) {
  for (Signature& s : signatures) {
    const std::string name = s.name;
    signatures_.insert_or_assign(name, std::move(s));
  }
}

const Signature* Catalogue::find(std::string_view op) const {
  const auto at = signatures_.find(op);
  return at == signatures_.end() ? nullptr : &at->second;
}

}  // namespace npu::graph::tensorflow
