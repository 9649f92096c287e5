// SPDX-License-Identifier: Apache-2.0
// ONNX models of one node for tests: written as bytes, read and run as any other.
//
//   OnnxNode node("Gemm", 13);
//   node.input<float>({2, 3}, a).constant<float>({3, 2}, b).set("alpha", 2.0F);
//   const std::vector<double> y = node.run().at(0).numbers;
#pragma once

#include <protozero/pbf_writer.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "graph/graph_fixture.h"
#include "graph/import/onnx/proto.h"
#include "graph/import/onnx/reader.h"
#include "graph/import/onnx/tensor.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph::onnx {

/// ONNX's number of a type.
template <class T>
constexpr int64_t element_number() {
  if constexpr (std::is_same_v<T, float>) return 1;
  if constexpr (std::is_same_v<T, uint8_t>) return 2;
  if constexpr (std::is_same_v<T, int8_t>) return 3;
  if constexpr (std::is_same_v<T, int32_t>) return 6;
  if constexpr (std::is_same_v<T, int64_t>) return 7;
  if constexpr (std::is_same_v<T, bool>) return 9;
  if constexpr (std::is_same_v<T, double>) return 11;
  if constexpr (std::is_same_v<T, uint64_t>) return 13;
  return 0;
}

/// What a run gave: any numbers as doubles.
struct Given {
  DType dtype = DType::kUndefined;
  Dims shape;
  std::vector<double> numbers;
};

inline Given given(const Value& value) {
  Given out{value.tensor.dtype, value.tensor.shape, {}};
  visit_dtype(value.tensor.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_convertible_v<T, double>)
      for (int64_t i = 0; i < value.tensor.count(); ++i)
        out.numbers.push_back(static_cast<double>(value.tensor.as<T>()[i]));
  });
  return out;
}

/// All in one: read, planned, run.
inline std::vector<Given> run_model(const std::string& bytes, std::vector<Value> arguments) {
  const Imported imported = read_model(bytes);
  Library library(0);
  library.add(imported.program);
  arguments.resize(imported.program.get(imported.function).arguments.size());
  std::vector<Given> out;
  for (const Value& value : library.get(imported.function)->run(std::move(arguments))) out.push_back(given(value));
  return out;
}

class OnnxNode {
 public:
  OnnxNode(std::string op, int64_t opset) : op_(std::move(op)), opset_(opset) {}
  /// One of another domain; `opset` is that domain's.
  OnnxNode& domain(std::string name) {
    domain_ = std::move(name);
    return *this;
  }

  /// An input of the model; with `ranked` off the file tells nothing of its shape. Bools as bytes: input<bool,
  /// uint8_t>.
  template <class T, class Stored = T>
  OnnxNode& input(const Dims& shape, std::vector<Stored> numbers, bool ranked = true) {
    std::string type, tensor;
    protozero::pbf_writer tensor_writer(tensor);
    tensor_writer.add_int64(field::kElement, element_number<T>());
    if (ranked) tensor_writer.add_message(field::kShape, dims(shape));
    protozero::pbf_writer(type).add_message(field::kTensorType, tensor);
    std::string value;
    protozero::pbf_writer value_writer(value);
    value_writer.add_string(field::kValueName, next_name());
    value_writer.add_message(field::kValueType, type);
    graph().add_message(field::kInput, value);
    arguments_.push_back(value_of<Stored>(shape, std::move(numbers)));
    arguments_.back().tensor.dtype = dtype_of<T>;
    return *this;
  }
  /// A tensor of the file; bools as bytes: constant<bool, uint8_t>.
  template <class T, class Stored = T>
  OnnxNode& constant(const Dims& shape, const std::vector<Stored>& numbers) {
    std::string tensor;
    protozero::pbf_writer writer(tensor);
    for (const int64_t size : shape) writer.add_int64(field::kDims, size);
    writer.add_int64(field::kDataType, element_number<T>());
    writer.add_string(field::kTensorName, next_name());
    writer.add_bytes(field::kRawData, reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Stored));
    graph().add_message(field::kInitializer, tensor);
    return *this;
  }
  OnnxNode& left_out() {
    inputs_.emplace_back();
    return *this;
  }
  OnnxNode& set(const std::string& name, int64_t value) {
    return attribute(name, 2, [&](auto& w) { w.add_int64(field::kI, value); });
  }
  OnnxNode& set(const std::string& name, int value) { return set(name, static_cast<int64_t>(value)); }
  OnnxNode& set(const std::string& name, float value) {
    return attribute(name, 1, [&](auto& w) { w.add_float(field::kF, value); });
  }
  OnnxNode& set(const std::string& name, double value) { return set(name, static_cast<float>(value)); }
  OnnxNode& set(const std::string& name, const char* value) {
    return attribute(name, 3, [&](auto& w) { w.add_string(field::kS, value); });
  }
  OnnxNode& set(const std::string& name, const std::vector<int64_t>& values) {
    return attribute(name, 7, [&](auto& w) {
      for (const int64_t v : values) w.add_int64(field::kInts, v);
    });
  }
  OnnxNode& set(const std::string& name, const std::vector<std::string>& values) {
    return attribute(name, 8, [&](auto& w) {
      for (const std::string& v : values) w.add_string(field::kStrings, v);
    });
  }

  /// A graph inside of the node, without inputs, that gives one number.
  OnnxNode& set_branch(const std::string& name, float value) {
    std::string number, node, output, graph;
    protozero::pbf_writer number_writer(number);
    number_writer.add_string(field::kAttrName, "value_float");
    number_writer.add_float(field::kF, value);
    number_writer.add_int64(field::kAttrType, 1);
    protozero::pbf_writer node_writer(node);
    node_writer.add_string(field::kOut, name);
    node_writer.add_string(field::kOpType, "Constant");
    node_writer.add_message(field::kAttribute, number);
    protozero::pbf_writer(output).add_string(field::kValueName, name);
    protozero::pbf_writer writer(graph);
    writer.add_message(field::kNode, node);
    writer.add_message(field::kOutput, output);
    return attribute(name, 5, [&](auto& w) { w.add_message(field::kG, graph); });
  }

  std::string bytes(size_t outputs) const {
    std::string node, graph = graph_, model, opset;
    protozero::pbf_writer node_writer(node);
    for (const std::string& name : inputs_) node_writer.add_string(field::kIn, name);
    for (size_t i = 0; i < outputs; ++i) node_writer.add_string(field::kOut, "y" + std::to_string(i));
    node_writer.add_string(field::kNodeName, "the node");
    node_writer.add_string(field::kOpType, op_);
    if (!domain_.empty()) node_writer.add_string(field::kDomain, domain_);
    for (const std::string& one : attributes_) node_writer.add_message(field::kAttribute, one);
    protozero::pbf_writer writer(graph);
    writer.add_message(field::kNode, node);
    for (size_t i = 0; i < outputs; ++i) {
      std::string value;
      protozero::pbf_writer(value).add_string(field::kValueName, "y" + std::to_string(i));
      writer.add_message(field::kOutput, value);
    }
    protozero::pbf_writer opset_writer(opset);
    if (!domain_.empty()) opset_writer.add_string(field::kSetDomain, domain_);
    opset_writer.add_int64(field::kSetVersion, opset_);
    protozero::pbf_writer model_writer(model);
    model_writer.add_int64(field::kIrVersion, 8);
    model_writer.add_message(field::kGraph, graph);
    model_writer.add_message(field::kOpsetImport, opset);
    return model;
  }
  std::vector<Given> run(size_t outputs = 1) const { return run_model(bytes(outputs), arguments_); }
  /// The text of the refusal; empty where it runs.
  std::string refusal(size_t outputs = 1) const {
    try {
      run(outputs);
    } catch (const Error& e) {
      return e.message();
    }
    return {};
  }

 private:
  protozero::pbf_writer graph() { return protozero::pbf_writer(graph_); }
  std::string next_name() {
    inputs_.push_back("x" + std::to_string(inputs_.size()));
    return inputs_.back();
  }
  static std::string dims(const Dims& shape) {
    std::string out;
    protozero::pbf_writer writer(out);
    for (const int64_t size : shape) {
      std::string one;
      protozero::pbf_writer(one).add_int64(field::kSize, size);
      writer.add_message(field::kDim, one);
    }
    return out;
  }
  template <class Write>
  OnnxNode& attribute(const std::string& name, int64_t type, Write&& write) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    writer.add_string(field::kAttrName, name);
    write(writer);
    writer.add_int64(field::kAttrType, type);
    attributes_.push_back(bytes);
    return *this;
  }

  const std::string op_;
  const int64_t opset_;
  std::string domain_, graph_;
  std::vector<std::string> inputs_, attributes_;
  std::vector<Value> arguments_;
};

}  // namespace npu::graph::onnx
