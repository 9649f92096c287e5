// SPDX-License-Identifier: Apache-2.0
#include "graph/import/onnx/rule/loop_builder.h"

namespace npu::graph::onnx {

GraphView graph_of(Translation& t, const char* name) {
  const auto at = t.node().graphs.find(name);
  if (at == t.node().graphs.end()) t.refuse(fmt::format("it has no graph {}", name));
  return read_graph(at->second);
}

Inner::Inner(Translation& t, const std::string& role)
    : function(t.walker().new_function(fmt::format("{}/{}", t.function().name, role), scope, t.scope())) {}

Edge Inner::argument(const std::string& name, const Output& value) {
  return scope.values[name] = {function.add_argument(name, value), 0};
}

void Inner::take(Translation& t, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Edge outside = t.scope().values.at(name);
    like(t, argument(name, t.value(outside)), outside);
  }
}

void Inner::like(Translation& t, Edge inside, Edge outside) {
  if (t.value(outside).type.is_tensor()) return;
  Attributes& attributes = function[inside.node].attributes;
  for (const char* what : {kElement, kHeld})
    if (const auto type = t.walker().declared(t.function(), outside, what)) attributes.set(what, *type);
}

Edge Inner::value(Translation& t, const std::string& name) const {
  const auto at = scope.values.find(name);
  if (at == scope.values.end()) t.refuse(fmt::format("no node of its graph gives '{}'", name));
  return at->second;
}

Edge add(Function& f, std::string_view op, std::vector<Edge> inputs, ValueType type,
         std::initializer_list<std::pair<const char*, Attribute>> attributes) {
  Node node;
  node.name = op, node.kind = f.dialect->kind_of(op), node.op = op, node.inputs = std::move(inputs);
  node.outputs = {{type, {}}};
  for (const auto& [name, value] : attributes) node.attributes.set(name, value);
  return {f.add(std::move(node)), 0};
}

size_t LoopBuilder::variable(const std::string& name, Edge start) {
  starts_.push_back(start);
  const Output& value = t_.value(start);
  // Sizes may change from turn to turn.
  in_body_.push_back(body.argument(name, {value.type, {}}));
  body.like(t_, in_body_.back(), start);
  in_condition_.push_back(condition.argument(name, {value.type, {}}));
  next_.push_back(in_body_.back());
  return next_.size() - 1;
}

void LoopBuilder::take_along(const GraphView& graph) {
  for (const std::string& name : t_.walker().captured({&graph}, t_.scope())) variable(name, t_.scope().values.at(name));
  t_.walker().take_constants(graph, t_.scope(), body.scope);
}

void LoopBuilder::count(Edge most) {
  variable("ai.onnx::turn", t_.integer(0));
  variable("ai.onnx::most", most);
  becomes(kTurn, add(body.function, "AddV2", {inside(kTurn), integer(body.function, 1)}, kInt, {{"T", kInt}}));
}

Edge LoopBuilder::goes_on() {
  return add(condition.function, "Less", {tested(kTurn), tested(kMost)}, kTruth, {{"T", kInt}});
}

size_t LoopBuilder::list(const std::string& name, DType dtype) {
  Function& f = t_.function();
  const Edge start = add(f, "EmptyTensorList", {constant<int32_t>(f, {}, {-1}), constant<int32_t>(f, {}, {-1})},
                         ValueType::variant(), {{"element_dtype", ValueType::tensor(dtype)}});
  return variable(name, start);
}

void LoopBuilder::append(size_t list, Edge element, DType dtype) {
  next_[list] = add(body.function, "TensorListPushBack", {next_[list], element}, ValueType::variant(),
                    {{"element_dtype", ValueType::tensor(dtype)}});
}

Edge LoopBuilder::stacked(const Made& loop, size_t list, DType dtype) {
  Function& f = t_.function();
  return add(f, "TensorListStack", {loop.output(static_cast<int32_t>(list)), constant<int32_t>(f, {}, {-1})},
             ValueType::tensor(dtype), {{"element_dtype", ValueType::tensor(dtype)}, {"num_elements", int64_t{-1}}});
}

Made LoopBuilder::make(Edge goes_on) {
  std::vector<ValueType> types;
  for (size_t i = 0; i < next_.size(); ++i) {
    const Output& given = body.function.output(next_[i]);
    if (given.type != t_.value(starts_[i]).type) t_.refuse(fmt::format("variable {} of the loop changes its type", i));
    types.push_back(given.type);
    body.result(fmt::format("v{}", i), next_[i]);
  }
  condition.result("goes_on", goes_on);
  return t_.make("While", starts_, types).with("body", body.name()).with("cond", condition.name());
}

}  // namespace npu::graph::onnx
