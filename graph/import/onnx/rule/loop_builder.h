// SPDX-License-Identifier: Apache-2.0
// Graphs inside of nodes become functions. They see values from around them by name, so what they take becomes further
// arguments; tensors of the file are taken along as constants.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/import/onnx/translation.h"
#include "graph/ir/literal.h"

namespace npu::graph::onnx {

inline const ValueType kInt = ValueType::tensor(DType::kInt64), kTruth = ValueType::tensor(DType::kBool);

/// The graph that an attribute of the node holds. Raises 161002 where there is none.
GraphView graph_of(Translation& t, const char* name);

/// A function being made of a graph inside of the node.
struct Inner {
  Inner(Translation& t, const std::string& role);

  Edge argument(const std::string& name, const Output& value);
  /// Arguments for values of these names around the node.
  void take(Translation& t, const std::vector<std::string>& names);
  /// What is no tensor holds inside what it does outside.
  void like(Translation& t, Edge inside, Edge outside);
  Edge value(Translation& t, const std::string& name) const;
  void result(const std::string& name, Edge edge) { function.results.push_back({name, edge}); }
  FunctionName name() const { return {function.name}; }

  Scope scope;
  Function& function;
};

/// A node of the engine inside of a function that no node of the file stands for.
Edge add(Function& f, std::string_view op, std::vector<Edge> inputs, ValueType type,
         std::initializer_list<std::pair<const char*, Attribute>> attributes = {});

template <class T>
Edge constant(Function& f, const Dims& shape, std::vector<T> values) {
  return {f.add_constant("Const", literal_of<T>(shape, values)), 0};
}
inline Edge integer(Function& f, int64_t value) { return constant<int64_t>(f, {}, {value}); }

/// The variables of a loop while it is put together: each in the node around it, in its body and in its condition.
class LoopBuilder {
 public:
  explicit LoopBuilder(Translation& t) : t_(t), body(t, "body"), condition(t, "cond") {}

  /// A variable that starts as `start`; gives it in the body. `name` is what the body's graph calls it.
  size_t variable(const std::string& name, Edge start);
  Edge inside(size_t variable) const { return in_body_[variable]; }
  Edge tested(size_t variable) const { return in_condition_[variable]; }
  void becomes(size_t variable, Edge edge) { next_[variable] = edge; }
  Edge next(size_t variable) const { return next_[variable]; }

  /// Variables for all that the graph takes from around the node.
  void take_along(const GraphView& graph);
  /// The turn, from 0 on, which is the first variable, and how many there are, which is the second.
  void count(Edge most);
  static constexpr size_t kTurn = 0, kMost = 1;
  /// Whether `turn` is below `most`, in the condition.
  Edge goes_on();

  /// A list that each turn puts an element behind.
  size_t list(const std::string& name, DType dtype);
  void append(size_t list, Edge element, DType dtype);
  /// The elements that a list came to hold, along a new first axis.
  Edge stacked(const Made& loop, size_t list, DType dtype);

  Made make(Edge goes_on);

 private:
  Translation& t_;

 public:
  Inner body, condition;

 private:
  std::vector<Edge> starts_, in_body_, in_condition_, next_;
};

}  // namespace npu::graph::onnx
