// SPDX-License-Identifier: Apache-2.0
// ONNX models of several nodes for tests, and graphs inside of nodes.
//
//   OnnxGraph body;
//   body.input<float>("x").node("Neg", {"x"}, {"y"}).output("y");
//   OnnxGraph graph;
//   graph.input<float>("s", {2}).node("SequenceMap", {"s"}, {"t"}, {body.as("body")}).output("t");
//   run_model(graph.model(17), {...});
#pragma once

#include <string>
#include <vector>

#include "graph/import/onnx/onnx_fixture.h"

namespace npu::graph::onnx {

template <class... Adds>
std::string message(Adds&&... adds) {
  std::string out;
  protozero::pbf_writer writer(out);
  (adds(writer), ...);
  return out;
}

/// Attributes of nodes, as bytes.
template <class Write>
std::string attribute(const std::string& name, int64_t type, Write&& write) {
  return message([&](auto& w) { w.add_string(field::kAttrName, name); }, write,
                 [&](auto& w) { w.add_int64(field::kAttrType, type); });
}
inline std::string attribute(const std::string& name, int64_t value) {
  return attribute(name, 2, [&](auto& w) { w.add_int64(field::kI, value); });
}
inline std::string attribute_of_type(const std::string& name, const std::string& type) {
  return attribute(name, 13, [&](auto& w) { w.add_message(field::kTypeOf, type); });
}

/// The type of a tensor, by ONNX's number of its elements.
inline std::string tensor_type(int64_t element) {
  const std::string tensor = message([&](auto& w) { w.add_int64(field::kElement, element); });
  return message([&](auto& w) { w.add_message(field::kTensorType, tensor); });
}

class OnnxGraph {
 public:
  template <class T>
  OnnxGraph& input(const std::string& name) {
    return value(field::kInput, name, tensor_type(element_number<T>()));
  }
  OnnxGraph& node(const std::string& op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs, const std::vector<std::string>& attributes = {}) {
    const std::string node = message([&](auto& w) {
      for (const std::string& name : inputs) w.add_string(field::kIn, name);
      for (const std::string& name : outputs) w.add_string(field::kOut, name);
      w.add_string(field::kNodeName, op + " of " + outputs.front());
      w.add_string(field::kOpType, op);
      for (const std::string& one : attributes) w.add_message(field::kAttribute, one);
    });
    protozero::pbf_writer(bytes_).add_message(field::kNode, node);
    return *this;
  }
  OnnxGraph& output(const std::string& name) { return value(field::kOutput, name, ""); }

  /// Inside of a node.
  std::string as(const std::string& name) const {
    return attribute(name, 5, [&](auto& w) { w.add_message(field::kG, bytes_); });
  }
  std::string model(int64_t opset) const {
    const std::string set = message([&](auto& w) { w.add_int64(field::kSetVersion, opset); });
    return message([&](auto& w) {
      w.add_int64(field::kIrVersion, 8);
      w.add_message(field::kGraph, bytes_);
      w.add_message(field::kOpsetImport, set);
    });
  }

 private:
  OnnxGraph& value(uint32_t what, const std::string& name, const std::string& type) {
    const std::string value = message([&](auto& w) {
      w.add_string(field::kValueName, name);
      if (!type.empty()) w.add_message(field::kValueType, type);
    });
    protozero::pbf_writer(bytes_).add_message(what, value);
    return *this;
  }

  std::string bytes_;
};

/// The text of the refusal; empty where it runs.
inline std::string refusal_of(const std::string& model, std::vector<Value> arguments = {}) {
  try {
    run_model(model, std::move(arguments));
  } catch (const Error& e) {
    return e.message();
  }
  return {};
}

}  // namespace npu::graph::onnx
