// SPDX-License-Identifier: Apache-2.0
// A small SavedModel as TensorFlow 2 writes it: y = relu(x · w) + b[i], its variables read within functions, with names
// that are not those of the checkpoint.
#pragma once

#include "graph/import/tensorflow/saved_model/bundle_fixture.h"

namespace npu::graph::tensorflow {

inline std::string shape_value(const std::vector<int64_t>& dims) {
  return message([&](auto& w) { w.add_message(field::kShape, shape(dims)); });
}
inline std::string strings_value(const std::vector<std::string>& strings) {
  return message([&](auto& w) {
    w.add_message(field::kTensor, message([&](auto& t) {
                    t.add_enum(field::kDType, kString);
                    t.add_message(field::kTensorShape, shape({static_cast<int64_t>(strings.size())}));
                    for (const std::string& one : strings) t.add_string(field::kStringVal, one);
                  }));
  });
}
inline std::string strings_node(const std::string& name, const std::vector<std::string>& strings) {
  return node(name, "Const", {}, {{"dtype", type_value(kString)}, {"value", strings_value(strings)}});
}
inline std::string float_node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
                              const std::string& attribute = "T") {
  return node(name, op, inputs, {{attribute, type_value(kFloat)}});
}
inline std::string variable_node(const std::string& name, const std::vector<int64_t>& dims,
                                 const std::string& op = "VarHandleOp") {
  return node(name, op, {}, {{"dtype", type_value(kFloat)}, {"shape", shape_value(dims)}});
}
inline std::string call_node(const std::string& name, const std::string& function,
                             const std::vector<std::string>& inputs, const std::vector<int>& in,
                             const std::vector<int>& out) {
  return node(name, "StatefulPartitionedCall", inputs,
              {{"f", function_value(function)}, {"Tin", types_value(in)}, {"Tout", types_value(out)}});
}
inline std::string graph_def(const std::vector<std::string>& nodes, const std::vector<std::string>& functions = {}) {
  return message([&](auto& w) {
    for (const std::string& one : nodes) w.add_message(field::kNode, one);
    w.add_message(field::kLibrary, message([&](auto& l) {
                    for (const std::string& one : functions) l.add_message(field::kFunction, one);
                  }));
  });
}

inline std::string endpoint(const std::string& tensor, int type, const std::vector<int64_t>& dims) {
  return message([&](auto& w) {
    w.add_string(field::kTensorName, tensor);
    w.add_enum(field::kInfoType, type);
    w.add_message(field::kInfoShape, shape(dims));
  });
}
struct TestSignature {
  std::string name;
  Attrs inputs, outputs;  ///< name, endpoint
};
inline std::string signature_def(const TestSignature& s) {
  return entry(s.name, message([&](auto& w) {
                 for (const auto& [name, one] : s.inputs) w.add_message(field::kSignatureInputs, entry(name, one));
                 for (const auto& [name, one] : s.outputs) w.add_message(field::kSignatureOutputs, entry(name, one));
               }));
}
inline std::string meta_graph(const std::string& graph, const std::vector<TestSignature>& signatures,
                              const std::string& restore, const std::vector<std::string>& tags = {"serve"}) {
  return message([&](auto& w) {
    w.add_message(field::kMetaInfo, message([&](auto& m) {
                    for (const std::string& tag : tags) m.add_string(field::kTags, tag);
                  }));
    w.add_message(field::kMetaGraphDef, graph);
    w.add_message(field::kSaver, message([&](auto& s) { s.add_string(field::kRestoreOp, restore); }));
    for (const TestSignature& one : signatures) w.add_message(field::kSignatureDef, signature_def(one));
  });
}
inline std::string saved_model(const std::vector<std::string>& meta_graphs) {
  return message([&](auto& w) {
    w.add_int64(field::kSchemaVersion, 1);
    for (const std::string& one : meta_graphs) w.add_message(field::kMetaGraph, one);
  });
}

/// What varies between tests.
struct ExampleParts {
  std::vector<std::string> nodes = {};        ///< more of the graph
  std::vector<std::string> inner_nodes = {};  ///< more of the function that computes
  std::vector<TestSignature> signatures = {};
  std::string restored_as = "b/value";
};

inline std::string example_function(const ExampleParts& parts) {
  std::vector<std::string> nodes = {
      float_node("read", "ReadVariableOp", {"w"}, "dtype"), float_node("product", "MatMul", {"x", "read:value:0"}),
      float_node("relu", "Relu", {"product:product:0"}),
      node("row", "ResourceGather", {"b", "i"}, {{"dtype", type_value(kFloat)}, {"Tindices", type_value(kInt32)}}),
      float_node("sum", "AddV2", {"relu:activations:0", "row:output:0"})};
  nodes.insert(nodes.end(), parts.inner_nodes.begin(), parts.inner_nodes.end());
  return function_def(
      {signature("compute",
                 {formal("x", kFloat), formal("i", kInt32), formal("w", kResourceType), formal("b", kResourceType)},
                 {formal("y", kFloat)}),
       nodes,
       {{"y", "sum:z:0"}}});
}

inline std::string example_wrapper() {
  return function_def(
      {signature("wrapper",
                 {formal("x", kFloat), formal("i", kInt32), formal("w", kResourceType), formal("b", kResourceType)},
                 {formal("y", kFloat)}),
       {call_node("inner", "compute", {"x", "i", "w", "b"}, {kFloat, kInt32, kResourceType, kResourceType}, {kFloat})},
       {{"y", "inner:output:0"}}});
}

inline std::string example_restore(const std::string& key_of_b) {
  return function_def(
      {signature("restore", {formal("prefix", kString), formal("to_b", kResourceType), formal("to_w", kResourceType)},
                 {}),
       {strings_node("names", {key_of_b, "w/value"}), strings_node("slices", {"", ""}),
        node("all", "RestoreV2", {"prefix", "names:output:0", "slices:output:0"}, {{"dtypes", types_value({1, 1})}}),
        float_node("same", "Identity", {"all:tensors:0"}), float_node("same_1", "Identity", {"all:tensors:1"}),
        float_node("set", "AssignVariableOp", {"to_b", "same:output:0"}, "dtype"),
        float_node("set_1", "AssignVariableOp", {"to_w", "same_1:output:0"}, "dtype")},
       {}});
}

inline std::string example_model(const ExampleParts& parts = {}) {
  std::vector<std::string> nodes = {
      variable_node("Variable", {2, 2}),
      variable_node("Variable_1", {3, 2}),
      node("in_x", "Placeholder", {}, {{"dtype", type_value(kFloat)}, {"shape", shape_value({-1, 2})}}),
      node("in_i", "Placeholder", {}, {{"dtype", type_value(kInt32)}, {"shape", shape_value({})}}),
      call_node("call", "wrapper", {"in_x", "in_i", "Variable", "Variable_1"},
                {kFloat, kInt32, kResourceType, kResourceType}, {kFloat}),
      node("prefix", "Placeholder", {}, {{"dtype", type_value(kString)}}),
      call_node("restored", "restore", {"prefix", "Variable_1", "Variable"}, {kString, kResourceType, kResourceType},
                {}),
  };
  nodes.insert(nodes.end(), parts.nodes.begin(), parts.nodes.end());
  std::vector<TestSignature> signatures = {
      {"serving_default",
       {{"x", endpoint("in_x:0", kFloat, {-1, 2})}, {"i", endpoint("in_i:0", kInt32, {})}},
       {{"y", endpoint("call:0", kFloat, {-1, 2})}}},
      {"__saved_model_init_op", {}, {{"init", endpoint("NoOp", 0, {})}}}};
  signatures.insert(signatures.end(), parts.signatures.begin(), parts.signatures.end());
  const std::string graph =
      graph_def(nodes, {example_function(parts), example_wrapper(), example_restore(parts.restored_as)});
  return saved_model({meta_graph(graph, signatures, "restored")});
}

/// The values of its variables: w = [[1, 2], [3, 4]], b = three rows.
inline std::map<std::string, TestEntry> example_values() {
  return {{"w/value", {kFloat, {2, 2}, floats({1, 2, 3, 4})}},
          {"b/value", {kFloat, {3, 2}, floats({10, 20, 30, 40, 50, 60})}},
          {"Variable", {kFloat, {2, 2}, floats({0, 0, 0, 0})}}};
}

}  // namespace npu::graph::tensorflow
