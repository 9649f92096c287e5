// SPDX-License-Identifier: Apache-2.0
// Functions and values for tests, put together by hand.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "graph/import/tensorflow/dialect.h"
#include "graph/ir/function.h"
#include "graph/ir/literal.h"
#include "graph/value/value.h"

namespace npu::graph {

/// A value over host numbers.
template <class T>
Value value_of(const Dims& shape, std::vector<T> numbers) {
  auto owner = std::make_shared<std::vector<T>>(std::move(numbers));
  Value value;
  value.tensor = make_tensor(owner->data(), dtype_of<T>, shape);
  value.owner = owner;
  return value;
}

template <class T>
std::vector<T> numbers_of(const Value& value) {
  const T* from = value.tensor.as<T>();
  return {from, from + value.tensor.count()};
}

/// Builds a function node by node, in TensorFlow's words; types are those of float tensors unless told otherwise.
class TestFunction {
 public:
  explicit TestFunction(const std::string& name) : f_(std::make_shared<Function>(name, tensorflow::dialect())) {}

  Edge argument(const std::string& name, ValueType type = ValueType::tensor(DType::kFloat)) {
    return {f_->add_argument(name, {type, {}}), 0};
  }
  template <class T>
  Edge constant(const Dims& shape, const std::vector<T>& numbers) {
    return {f_->add_constant("constant", literal_of<T>(shape, numbers)), 0};
  }
  /// A node of `outputs` outputs; gives its first.
  Edge node(const std::string& op, std::vector<Edge> inputs, ValueType type = ValueType::tensor(DType::kFloat),
            size_t outputs = 1, std::vector<NodeId> after = {}) {
    Node node;
    node.name = "n_" + op, node.kind = tensorflow::dialect().kind_of(op), node.op = op, node.inputs = std::move(inputs),
    node.after = std::move(after);
    node.outputs.assign(outputs, {type, {}});
    node.stateful = op.find("Variable") != std::string::npos;
    return {f_->add(std::move(node)), 0};
  }
  template <class T>
  TestFunction& with(Edge edge, const std::string& name, T value) {
    (*f_)[edge.node].attributes.set(name, Attribute(std::move(value)));
    return *this;
  }
  TestFunction& result(Edge edge) {
    f_->results.push_back({"r", edge});
    return *this;
  }
  TestFunction& must_run(Edge edge) {
    f_->control_results.push_back(edge.node);
    return *this;
  }
  const std::shared_ptr<Function>& function() const { return f_; }

 private:
  std::shared_ptr<Function> f_;
};

}  // namespace npu::graph
