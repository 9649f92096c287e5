// SPDX-License-Identifier: Apache-2.0
// If and Loop.
#include <limits>

#include "graph/import/onnx/rule/loop_builder.h"
#include "graph/ir/literal.h"

namespace npu::graph::onnx {
namespace {

std::vector<Edge> edges_of(Translation& t, const std::vector<std::string>& names) {
  std::vector<Edge> out;
  for (const std::string& name : names) out.push_back(t.scope().values.at(name));
  return out;
}

void branch(Translation& t, const GraphView& graph, const std::vector<std::string>& taken, Inner& inner) {
  inner.take(t, taken);
  t.walker().take_constants(graph, t.scope(), inner.scope);
  t.walker().translate(graph, inner.scope);
  for (const ValueView& output : graph.outputs) inner.result(output.name, inner.value(t, output.name));
}

/// A condition may have an axis of one element; the engine asks of such a tensor only whether it has elements.
Edge one_truth(Translation& t, Edge condition) {
  if (t.rank(condition) == 0U) return condition;
  return t.make("Reshape", {condition, t.ints({})}, DType::kBool).shaped({Dims{}});
}

void if_(Translation& t) {
  const GraphView then_graph = graph_of(t, "then_branch"), else_graph = graph_of(t, "else_branch");
  const std::vector<std::string> taken = t.walker().captured({&then_graph, &else_graph}, t.scope());
  Inner yes(t, "then"), no(t, "else");
  branch(t, then_graph, taken, yes);
  branch(t, else_graph, taken, no);
  std::vector<Edge> inputs{one_truth(t, t.in(0))};
  for (const Edge& edge : edges_of(t, taken)) inputs.push_back(edge);
  std::vector<ValueType> types;
  if (yes.function.results.size() != no.function.results.size())
    t.refuse("its branches give different numbers of values");
  for (size_t i = 0; i < yes.function.results.size(); ++i) {
    types.push_back(yes.function.output(yes.function.results[i].value).type);
    if (types.back() != no.function.output(no.function.results[i].value).type)
      t.refuse(fmt::format("output {} of its branches has different types", i));
  }
  const Made made = t.make("If", inputs, types).with("then_branch", yes.name()).with("else_branch", no.name());
  for (size_t i = 0; i < types.size(); ++i) t.give(i, made.output(static_cast<int32_t>(i)));
}

/// Inputs: how often (or as often as it likes), whether at all, variables. The body's outputs: whether to go on, the
/// variables, and elements of lists.
void loop(Translation& t) {
  const GraphView graph = graph_of(t, "body");
  const size_t variables = t.input_count() > 2 ? t.input_count() - 2 : 0;
  if (graph.inputs.size() != variables + 2 || graph.outputs.size() < variables + 1)
    t.refuse(fmt::format("its body has {} inputs and {} outputs for {} variables", graph.inputs.size(),
                         graph.outputs.size(), variables));
  LoopBuilder l(t);
  const bool limited = t.has(0), asked = t.has(1);
  const size_t turn = l.variable(graph.inputs[0].name, t.integer(0));
  const size_t going = l.variable(graph.inputs[1].name, asked ? t.in(1) : t.constant(scalar_literal(true)));
  const size_t most = l.variable("ai.onnx::most", limited ? t.in(0) : t.integer(std::numeric_limits<int64_t>::max()));
  const size_t first = most + 1;
  for (size_t i = 0; i < variables; ++i) l.variable(graph.inputs[i + 2].name, t.in(i + 2));
  l.take_along(graph);
  t.walker().translate(graph, l.body.scope);
  const auto given = [&](size_t output) { return l.body.value(t, graph.outputs[output].name); };
  l.becomes(turn, add(l.body.function, "AddV2", {l.inside(turn), integer(l.body.function, 1)}, kInt, {{"T", kInt}}));
  // Without a condition at the start the body's is not asked either.
  if (asked) l.becomes(going, given(0));
  for (size_t i = 0; i < variables; ++i) l.becomes(first + i, given(i + 1));
  std::vector<std::pair<size_t, DType>> lists;
  for (size_t i = variables + 1; i < graph.outputs.size(); ++i) {
    const DType dtype = l.body.function.output(given(i)).type.dtype;
    lists.emplace_back(l.list(fmt::format("ai.onnx::list{}", i), dtype), dtype);
    l.append(lists.back().first, given(i), dtype);
  }
  Function& test = l.condition.function;
  const auto flat = [&](size_t v, ValueType type) {
    return add(test, "Reshape", {l.tested(v), constant<int64_t>(test, {0}, {})}, type);
  };
  const Edge below = add(test, "Less", {flat(turn, kInt), flat(most, kInt)}, kTruth, {{"T", kInt}});
  const Made made = l.make(add(test, "LogicalAnd", {below, flat(going, kTruth)}, kTruth));
  for (size_t i = 0; i < variables; ++i) t.give(i, made.output(static_cast<int32_t>(first + i)));
  for (size_t i = 0; i < lists.size(); ++i)
    if (t.wants(variables + i)) t.give(variables + i, l.stacked(made, lists[i].first, lists[i].second));
}

NPU_ONNX("If", if_);
NPU_ONNX("Loop", loop);

}  // namespace
}  // namespace npu::graph::onnx
