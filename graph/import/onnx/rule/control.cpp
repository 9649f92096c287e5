// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan: graphs inside of nodes become functions. They see values from around them by name, so what they
// take becomes further arguments; tensors of the file are taken along as constants.
#include <algorithm>

#include "graph/import/onnx/translation.h"

namespace npu::graph::onnx {
namespace {

GraphView graph_of(Translation& t, const char* name) {
  const auto at = t.node().graphs.find(name);
  if (at == t.node().graphs.end()) t.refuse(fmt::format("it has no graph {}", name));
  return read_graph(at->second);
}

/// A function being made of a graph inside of the node.
struct Inner {
  Inner(Translation& t, const std::string& role)
      : function(t.walker().new_function(fmt::format("{}/{}", t.function().name, role), scope, t.scope())) {}

  Edge argument(const std::string& name, const Output& value) {
    return scope.values[name] = {function.add_argument(name, value), 0};
  }
  void take(Translation& t, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      like(t, argument(name, t.value(t.scope().values.at(name))), t.scope().values.at(name));
  }
  /// A sequence inside holds what that around it does.
  void like(Translation& t, Edge inside, Edge outside) {
    if (!t.value(outside).type.is_tensor())
      function[inside.node].attributes.set("element_dtype",
                                           ValueType::tensor(t.walker().element_of(t.function(), outside)));
  }
  Edge value(Translation& t, const std::string& name) const {
    const auto at = scope.values.find(name);
    if (at == scope.values.end()) t.refuse(fmt::format("no node of its graph gives '{}'", name));
    return at->second;
  }
  void result(const std::string& name, Edge edge) { function.results.push_back({name, edge}); }
  FunctionName name() const { return {function.name}; }

  Scope scope;
  Function& function;
};

std::vector<Edge> edges_of(Translation& t, const std::vector<std::string>& names) {
  std::vector<Edge> out;
  for (const std::string& name : names) out.push_back(t.scope().values.at(name));
  return out;
}

/// A node of the engine inside of a function that no node of the file stands for.
Edge add(Function& f, std::string_view op, std::vector<Edge> inputs, ValueType type,
         std::initializer_list<std::pair<const char*, Attribute>> attributes = {}) {
  Node node;
  node.name = op, node.kind = f.dialect->kind_of(op), node.op = op, node.inputs = std::move(inputs);
  node.outputs = {{type, {}}};
  for (const auto& [name, value] : attributes) node.attributes.set(name, value);
  return {f.add(std::move(node)), 0};
}

template <class T>
Edge constant(Function& f, const Dims& shape, std::vector<T> values) {
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  return {
      f.add_constant(
          "Const", {ValueType::tensor(dtype_of<T>), shape,
                    std::make_shared<const std::vector<std::byte>>(bytes, bytes + values.size() * sizeof(T)), nullptr}),
      0};
}
Edge integer(Function& f, int64_t value) { return constant<int64_t>(f, {}, {value}); }

const ValueType kInt = ValueType::tensor(DType::kInt64), kTruth = ValueType::tensor(DType::kBool);

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

/// The variables of a loop while it is put together: each in the node around it, in its body and in its condition.
class LoopBuilder {
 public:
  explicit LoopBuilder(Translation& t) : t_(t), body(t, "body"), condition(t, "cond") {}

  /// A variable that starts as `start`; gives it in the body. `name` is what the body's graph calls it.
  size_t variable(const std::string& name, Edge start) {
    starts_.push_back(start);
    const Output& value = t_.value(start);
    // Sizes may change from turn to turn.
    in_body_.push_back(body.argument(name, {value.type, {}}));
    body.like(t_, in_body_.back(), start);
    in_condition_.push_back(condition.argument(name, {value.type, {}}));
    next_.push_back(in_body_.back());
    return next_.size() - 1;
  }
  Edge inside(size_t variable) const { return in_body_[variable]; }
  Edge tested(size_t variable) const { return in_condition_[variable]; }
  void becomes(size_t variable, Edge edge) { next_[variable] = edge; }

  /// A list that each turn puts an element behind.
  size_t list(const std::string& name, DType dtype) {
    Function& f = t_.function();
    const Edge start = add(f, "EmptyTensorList", {constant<int32_t>(f, {}, {-1}), constant<int32_t>(f, {}, {-1})},
                           ValueType::variant(), {{"element_dtype", ValueType::tensor(dtype)}});
    return variable(name, start);
  }
  void append(size_t list, Edge element, DType dtype) {
    next_[list] = add(body.function, "TensorListPushBack", {next_[list], element}, ValueType::variant(),
                      {{"element_dtype", ValueType::tensor(dtype)}});
  }
  /// The elements that a list came to hold, along a new first axis.
  Edge stacked(const Made& loop, size_t list, DType dtype) {
    Function& f = t_.function();
    return add(f, "TensorListStack", {loop.output(static_cast<int32_t>(list)), constant<int32_t>(f, {}, {-1})},
               ValueType::tensor(dtype), {{"element_dtype", ValueType::tensor(dtype)}, {"num_elements", int64_t{-1}}});
  }

  Made make(Edge goes_on) {
    std::vector<ValueType> types;
    for (size_t i = 0; i < next_.size(); ++i) {
      const Output& given = body.function.output(next_[i]);
      if (given.type != t_.value(starts_[i]).type)
        t_.refuse(fmt::format("variable {} of the loop changes its type", i));
      types.push_back(given.type);
      body.result(fmt::format("v{}", i), next_[i]);
    }
    condition.result("goes_on", goes_on);
    return t_.make("While", starts_, types).with("body", body.name()).with("cond", condition.name());
  }

 private:
  Translation& t_;

 public:
  Inner body, condition;

 private:
  std::vector<Edge> starts_, in_body_, in_condition_, next_;
};

void take_along(Translation& t, const GraphView& graph, LoopBuilder& loop) {
  for (const std::string& name : t.walker().captured({&graph}, t.scope()))
    loop.variable(name, t.scope().values.at(name));
  t.walker().take_constants(graph, t.scope(), loop.body.scope);
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
  const size_t going = l.variable(
      graph.inputs[1].name,
      asked ? t.in(1)
            : t.constant({kTruth, Dims{}, std::make_shared<const std::vector<std::byte>>(1, std::byte{1}), nullptr}));
  const size_t most = l.variable("ai.onnx::most", limited ? t.in(0) : t.integer(std::numeric_limits<int64_t>::max()));
  const size_t first = most + 1;
  for (size_t i = 0; i < variables; ++i) l.variable(graph.inputs[i + 2].name, t.in(i + 2));
  take_along(t, graph, l);
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

std::vector<int64_t> per_one(Translation& t, const char* name, size_t count) {
  auto values = t.attribute<std::vector<int64_t>>(name, {});
  values.resize(count);
  return values;
}

/// The first axis brought to its place `axis`, or the other way round.
Edge moved(Translation& t, Edge x, int64_t axis, bool to_front) {
  if (axis == 0) return x;
  const DType dtype = t.dtype(x);
  return t.make("ai.onnx::MoveAxis", {x}, dtype).with("axis", axis).with("to_front", to_front);
}
Edge turned(Translation& t, Edge x, int64_t direction) {
  if (direction == 0) return x;
  return t.make("ReverseV2", {x, t.ints({0})}, t.dtype(x));
}

/// Inputs: variables, then tensors whose slices the turns take one after the other. Outputs: variables, then what the
/// turns gave.
void scan(Translation& t) {
  if (t.opset() < 9) t.refuse("Scan of opset 8 has batches; export the model with opset 9 or later");
  const GraphView graph = graph_of(t, "body");
  const auto scanned = static_cast<size_t>(t.required<int64_t>("num_scan_inputs"));
  if (scanned == 0 || scanned > t.input_count() || graph.inputs.size() != t.input_count())
    t.refuse(fmt::format("num_scan_inputs is {} of {} inputs; its body has {}", scanned, t.input_count(),
                         graph.inputs.size()));
  const size_t variables = t.input_count() - scanned, lists = graph.outputs.size() - variables;
  const auto in_axes = per_one(t, "scan_input_axes", scanned), in_turns = per_one(t, "scan_input_directions", scanned);
  const auto out_axes = per_one(t, "scan_output_axes", lists), out_turns = per_one(t, "scan_output_directions", lists);
  LoopBuilder l(t);
  const size_t turn = l.variable("ai.onnx::turn", t.integer(0));
  const Edge zero = t.integer(0);
  std::vector<Edge> sources;
  for (size_t i = 0; i < scanned; ++i)
    sources.push_back(turned(t, moved(t, t.in(variables + i), in_axes[i], true), in_turns[i]));
  const Edge sizes = t.make("Shape", {sources.front()}, DType::kInt64);
  const size_t most = l.variable("ai.onnx::most", t.make("GatherV2", {sizes, zero, zero}, DType::kInt64));
  const size_t first = most + 1;
  for (size_t i = 0; i < variables; ++i) l.variable(graph.inputs[i].name, t.in(i));
  Function& body = l.body.function;
  for (size_t i = 0; i < scanned; ++i) {
    const size_t source = l.variable(fmt::format("ai.onnx::source{}", i), sources[i]);
    l.body.scope.values[graph.inputs[variables + i].name] =
        add(body, "GatherV2", {l.inside(source), l.inside(turn), integer(body, 0)}, t.value(sources[i]).type);
  }
  take_along(t, graph, l);
  t.walker().translate(graph, l.body.scope);
  const auto given = [&](size_t output) { return l.body.value(t, graph.outputs[output].name); };
  l.becomes(turn, add(body, "AddV2", {l.inside(turn), integer(body, 1)}, kInt, {{"T", kInt}}));
  for (size_t i = 0; i < variables; ++i) l.becomes(first + i, given(i));
  std::vector<std::pair<size_t, DType>> made_lists;
  for (size_t i = 0; i < lists; ++i) {
    const DType dtype = body.output(given(variables + i)).type.dtype;
    made_lists.emplace_back(l.list(fmt::format("ai.onnx::list{}", i), dtype), dtype);
    l.append(made_lists.back().first, given(variables + i), dtype);
  }
  Function& test = l.condition.function;
  const Made made = l.make(add(test, "Less", {l.tested(turn), l.tested(most)}, kTruth, {{"T", kInt}}));
  for (size_t i = 0; i < variables; ++i) t.give(i, made.output(static_cast<int32_t>(first + i)));
  for (size_t i = 0; i < lists; ++i) {
    if (!t.wants(variables + i)) continue;
    const Edge stacked = l.stacked(made, made_lists[i].first, made_lists[i].second);
    t.give(variables + i, moved(t, turned(t, stacked, out_turns[i]), out_axes[i], false));
  }
}

NPU_ONNX("If", if_);
NPU_ONNX("Loop", loop);
NPU_ONNX("Scan", scan);

}  // namespace
}  // namespace npu::graph::onnx
