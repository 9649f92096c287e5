// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/catalogue.h"

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
      default: break;
    }
  });
  return formal;
}

void read_default(Bytes attr_def, std::map<std::string, std::string>& defaults) {
  std::string name;
  std::optional<std::string> value;
  each_field(attr_def, [&](Field f) {
    if (f.number() == field::kAttrName) name = f.text();
    if (f.number() == field::kDefault) value = f.text();
  });
  if (value) defaults.emplace(std::move(name), std::move(*value));
}

}  // namespace

Signature read_signature(Bytes op_def) {
  Signature s;
  each_field(op_def, [&](Field f) {
    switch (f.number()) {
      case field::kOpName: s.name = f.text(); break;
      case field::kInputArg: s.inputs.push_back(read_formal(f.bytes())); break;
      case field::kOutputArg: s.outputs.push_back(read_formal(f.bytes())); break;
      case field::kOpAttr: read_default(f.bytes(), s.defaults); break;
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

Catalogue::Catalogue(Bytes op_list) {
  parsed("the list of operators", [&] {
    each_field(op_list, [&](Field f) {
      if (f.number() != field::kOpDef) return;
      Signature s = read_signature(f.bytes());
      signatures_.insert_or_assign(s.name, std::move(s));
    });
  });
}

const Signature* Catalogue::find(std::string_view op) const {
  const auto at = signatures_.find(op);
  return at == signatures_.end() ? nullptr : &at->second;
}

}  // namespace npu::graph::tensorflow
