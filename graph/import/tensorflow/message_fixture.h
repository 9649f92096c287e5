// SPDX-License-Identifier: Apache-2.0
// Writes the TensorFlow messages that the tests read.
#pragma once

#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

#include "graph/import/tensorflow/proto.h"

namespace npu::graph::tensorflow {

/// TensorFlow's numbers of the types the tests use.
inline constexpr int kFloat = 1, kInt32 = 3, kString = 7, kResourceType = 20;

/// A message, written field by field: `message([&](auto& w) { w.add_string(1, "x"); })`.
template <class Write>
std::string message(Write&& write) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  write(writer);
  return bytes;
}

inline std::string type_value(int type) {
  return message([&](auto& w) { w.add_enum(field::kAttrType, type); });
}
inline std::string int_value(int64_t value) {
  return message([&](auto& w) { w.add_int64(field::kI, value); });
}
inline std::string bool_value(bool value) {
  return message([&](auto& w) { w.add_bool(field::kB, value); });
}
inline std::string function_value(const std::string& name) {
  return message(
      [&](auto& w) { w.add_message(field::kFunc, message([&](auto& f) { f.add_string(field::kFuncName, name); })); });
}
inline std::string types_value(const std::vector<int>& types) {
  return message([&](auto& w) {
    w.add_message(field::kList, message([&](auto& l) {
                    for (const int type : types) l.add_enum(field::kAttrType, type);
                  }));
  });
}
inline std::string shape(const std::vector<int64_t>& dims) {
  return message([&](auto& w) {
    for (const int64_t d : dims)
      w.add_message(field::kDim, message([&](auto& dim) { dim.add_int64(field::kSize, d); }));
  });
}

inline std::string entry(const std::string& key, const std::string& value) {
  return message([&](auto& w) {
    w.add_string(field::kKey, key);
    w.add_message(field::kValue, value);
  });
}

using Attrs = std::vector<std::pair<std::string, std::string>>;

inline std::string node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
                        const Attrs& attributes = {}) {
  return message([&](auto& w) {
    w.add_string(field::kName, name);
    w.add_string(field::kOp, op);
    for (const std::string& input : inputs) w.add_string(field::kInput, input);
    for (const auto& [key, value] : attributes) w.add_message(field::kAttr, entry(key, value));
  });
}

/// A formal of a signature: the type fixed, or named by an attribute; `number` counts the tensors of a list.
inline std::string formal(const std::string& name, int type, const std::string& type_attr = "",
                          const std::string& number = "") {
  return message([&](auto& w) {
    w.add_string(field::kArgName, name);
    if (type != 0) w.add_enum(field::kType, type);
    if (!type_attr.empty()) w.add_string(field::kTypeAttr, type_attr);
    if (!number.empty()) w.add_string(field::kNumberAttr, number);
  });
}

inline std::string signature(const std::string& name, const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs, const Attrs& defaults = {},
                             bool stateful = false) {
  return message([&](auto& w) {
    w.add_string(field::kOpName, name);
    for (const std::string& input : inputs) w.add_message(field::kInputArg, input);
    for (const std::string& output : outputs) w.add_message(field::kOutputArg, output);
    for (const auto& [attribute, value] : defaults) {
      w.add_message(field::kOpAttr, message([&](auto& a) {
                      a.add_string(field::kAttrName, attribute);
                      a.add_message(field::kDefault, value);
                    }));
    }
    w.add_bool(field::kIsStateful, stateful);
  });
}

/// The few operators the tests build graphs of.
inline std::string test_operators() {
  const std::vector<std::string> all = {
      signature("Const", {}, {formal("output", 0, "dtype")}),
      signature("Identity", {formal("input", 0, "T")}, {formal("output", 0, "T")}),
      signature("AddV2", {formal("x", 0, "T"), formal("y", 0, "T")}, {formal("z", 0, "T")}),
      signature("MatMul", {formal("a", 0, "T"), formal("b", 0, "T")}, {formal("product", 0, "T")},
                {{"transpose_a", bool_value(false)}, {"transpose_b", bool_value(false)}}),
      signature("Split", {formal("split_dim", kInt32), formal("value", 0, "T")},
                {formal("output", 0, "T", "num_split")}),
      signature("TopKV2", {formal("input", 0, "T"), formal("k", kInt32)},
                {formal("values", 0, "T"), formal("indices", kInt32)}),
      signature("NoOp", {}, {}),
      signature("ReadVariableOp", {formal("resource", kResourceType)}, {formal("value", 0, "dtype")}, {}, true),
      signature("AssignAddVariableOp", {formal("resource", kResourceType), formal("value", 0, "dtype")}, {}, {}, true),
      signature("StatefulPartitionedCall", {message([](auto& w) {
                  w.add_string(field::kArgName, "args");
                  w.add_string(field::kTypeListAttr, "Tin");
                })},
                {message([](auto& w) {
                  w.add_string(field::kArgName, "output");
                  w.add_string(field::kTypeListAttr, "Tout");
                })},
                {}, true),
  };
  return message([&](auto& w) {
    for (const std::string& one : all) w.add_message(field::kOpDef, one);
  });
}

struct FunctionParts {
  std::string signature;
  std::vector<std::string> nodes;
  std::vector<std::pair<std::string, std::string>> results;
  std::vector<std::string> control_results = {};
};

inline std::string function_def(const FunctionParts& parts) {
  return message([&](auto& w) {
    w.add_message(field::kSignature, parts.signature);
    for (const std::string& one : parts.nodes) w.add_message(field::kNodeDef, one);
    for (const auto& [name, source] : parts.results) w.add_message(field::kRet, entry(name, source));
    for (const std::string& one : parts.control_results) w.add_message(field::kControlRet, entry(one, one));
  });
}

}  // namespace npu::graph::tensorflow
