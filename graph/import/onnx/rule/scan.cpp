// SPDX-License-Identifier: Apache-2.0
// Scan: a loop over slices of tensors; before opset 9 over those of each batch.
#include "graph/import/onnx/rule/loop_builder.h"

namespace npu::graph::onnx {
namespace {

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
Edge turned(Translation& t, Edge x, int64_t direction, int64_t axis = 0) {
  if (direction == 0) return x;
  return t.make("ReverseV2", {x, t.ints({axis})}, t.dtype(x));
}

/// Element `i` along the first axis.
Edge item(Function& f, Edge x, Edge i, ValueType type) { return add(f, "GatherV2", {x, i, integer(f, 0)}, type); }

/// A Scan as the file has it.
struct Parts {
  GraphView graph;
  size_t first = 0, variables = 0, scanned = 0, lists = 0;  ///< first: the input that is the first variable
};

Parts parts_of(Translation& t, size_t first) {
  Parts p{graph_of(t, "body"), first};
  const size_t inputs = t.input_count() - std::min(first, t.input_count());
  const auto scanned = t.required<int64_t>("num_scan_inputs");
  if (scanned <= 0 || std::cmp_greater(scanned, inputs) || p.graph.inputs.size() != inputs)
    t.refuse(
        fmt::format("num_scan_inputs is {} of {} inputs; its body has {}", scanned, inputs, p.graph.inputs.size()));
  p.scanned = static_cast<size_t>(scanned), p.variables = inputs - p.scanned;
  if (p.graph.outputs.size() < p.variables)
    t.refuse(fmt::format("its body has {} outputs for {} variables", p.graph.outputs.size(), p.variables));
  p.lists = p.graph.outputs.size() - p.variables;
  return p;
}

/// A list for each output of the body behind its variables.
std::vector<std::pair<size_t, DType>> collect(Translation& t, LoopBuilder& l, const Parts& p, size_t from) {
  std::vector<std::pair<size_t, DType>> out;
  for (size_t i = from; i < p.graph.outputs.size(); ++i) {
    const Edge given = l.body.value(t, p.graph.outputs[i].name);
    const DType dtype = l.body.function.output(given).type.dtype;
    out.emplace_back(l.list(fmt::format("ai.onnx::list{}", i), dtype), dtype);
    l.append(out.back().first, given, dtype);
  }
  return out;
}

/// Inputs: variables, then tensors whose slices the turns take one after the other. Outputs: variables, then what the
/// turns gave.
void scan_slices(Translation& t) {
  const Parts p = parts_of(t, 0);
  const auto in_axes = per_one(t, "scan_input_axes", p.scanned),
             in_turns = per_one(t, "scan_input_directions", p.scanned);
  const auto out_axes = per_one(t, "scan_output_axes", p.lists),
             out_turns = per_one(t, "scan_output_directions", p.lists);
  LoopBuilder l(t);
  std::vector<Edge> sources;
  for (size_t i = 0; i < p.scanned; ++i)
    sources.push_back(turned(t, moved(t, t.in(p.variables + i), in_axes[i], true), in_turns[i]));
  const Edge zero = t.integer(0), sizes = t.make("Shape", {sources.front()}, DType::kInt64);
  l.count(t.make("GatherV2", {sizes, zero, zero}, DType::kInt64));
  std::vector<size_t> variables;
  for (size_t i = 0; i < p.variables; ++i) variables.push_back(l.variable(p.graph.inputs[i].name, t.in(i)));
  for (size_t i = 0; i < p.scanned; ++i) {
    const size_t source = l.variable(fmt::format("ai.onnx::source{}", i), sources[i]);
    l.body.scope.values[p.graph.inputs[p.variables + i].name] =
        item(l.body.function, l.inside(source), l.inside(LoopBuilder::kTurn), t.value(sources[i]).type);
  }
  l.take_along(p.graph);
  t.walker().translate(p.graph, l.body.scope);
  for (size_t i = 0; i < p.variables; ++i) l.becomes(variables[i], l.body.value(t, p.graph.outputs[i].name));
  const auto lists = collect(t, l, p, p.variables);
  const Made made = l.make(l.goes_on());
  for (size_t i = 0; i < p.variables; ++i) t.give(i, made.output(static_cast<int32_t>(variables[i])));
  for (size_t i = 0; i < p.lists; ++i) {
    if (!t.wants(p.variables + i)) continue;
    const Edge stacked = l.stacked(made, lists[i].first, lists[i].second);
    t.give(p.variables + i, moved(t, turned(t, stacked, out_turns[i]), out_axes[i], false));
  }
}

// ---- opset 8: everything has a batch as its first axis, what is scanned its slices along the second

/// Where a turn stands: all slices of the first batch come first.
struct Place {
  Edge batch, slice, starts;  ///< starts: whether it is the first slice
};

Place place_of(Function& f, Edge turn, Edge length) {
  const auto number = [&](const char* op, Edge a, Edge b) { return add(f, op, {a, b}, kInt, {{"T", kInt}}); };
  const Edge batch = number("TruncateDiv", turn, length), slice = number("Sub", turn, number("Mul", batch, length));
  return {batch, slice, add(f, "Equal", {slice, integer(f, 0)}, kTruth, {{"T", kInt}})};
}

/// [batches · slices, …] as [batches, slices, …].
Edge in_batches(Translation& t, Edge stacked, Edge both) {
  const Edge sizes = t.make("Shape", {stacked}, DType::kInt64);
  const Edge rest = t.make("Slice", {sizes, t.ints({1}), t.ints({-1})}, DType::kInt64);
  const Edge shape = t.make("ConcatV2", {both, rest, t.integer(0)}, DType::kInt64);
  return t.make("Reshape", {stacked, shape}, t.dtype(stacked));
}

/// One loop over all slices of all batches: variables begin anew with each batch, and what they are after its last
/// slice is their result.
void scan_batches(Translation& t) {
  if (t.has(0))
    t.refuse(
        "its sequence_lens are not built; export the model with opset 9 or later, or give sequences of one length");
  const Parts p = parts_of(t, 1);
  const auto in_turns = per_one(t, "directions", p.scanned);
  LoopBuilder l(t);
  std::vector<Edge> sources;
  for (size_t i = 0; i < p.scanned; ++i) sources.push_back(turned(t, t.in(1 + p.variables + i), in_turns[i], 1));
  const Edge zero = t.integer(0), one = t.integer(1), sizes = t.make("Shape", {sources.front()}, DType::kInt64);
  const Edge batches = t.make("GatherV2", {sizes, zero, zero}, DType::kInt64);
  const Edge length = t.make("GatherV2", {sizes, one, zero}, DType::kInt64);
  l.count(t.point("Mul", {batches, length}, DType::kInt64));
  Function& body = l.body.function;
  const Place place = place_of(body, l.inside(LoopBuilder::kTurn), l.inside(l.variable("ai.onnx::length", length)));
  std::vector<size_t> states;
  for (size_t i = 0; i < p.variables; ++i) {
    const Edge start = t.in(1 + i);
    const ValueType type = t.value(start).type;
    const size_t starts = l.variable(fmt::format("ai.onnx::start{}", i), start);
    states.push_back(
        l.variable(fmt::format("ai.onnx::state{}", i), t.make("GatherV2", {start, zero, zero}, t.dtype(start))));
    const Edge fresh = item(body, l.inside(starts), place.batch, type);
    l.body.scope.values[p.graph.inputs[i].name] =
        add(body, "SelectV2", {place.starts, fresh, l.inside(states.back())}, type);
  }
  for (size_t i = 0; i < p.scanned; ++i) {
    const ValueType type = t.value(sources[i]).type;
    const Edge source = l.inside(l.variable(fmt::format("ai.onnx::source{}", i), sources[i]));
    l.body.scope.values[p.graph.inputs[p.variables + i].name] =
        item(body, item(body, source, place.batch, type), place.slice, type);
  }
  l.take_along(p.graph);
  t.walker().translate(p.graph, l.body.scope);
  for (size_t i = 0; i < p.variables; ++i) l.becomes(states[i], l.body.value(t, p.graph.outputs[i].name));
  const auto lists = collect(t, l, p, 0);
  const Made made = l.make(l.goes_on());
  const Edge both = t.make("Slice", {sizes, t.ints({0}), t.ints({2})}, DType::kInt64);
  const Edge last = t.point("Sub", {length, one}, DType::kInt64);
  for (size_t i = 0; i < lists.size(); ++i) {
    if (!t.wants(i)) continue;
    const Edge all = in_batches(t, l.stacked(made, lists[i].first, lists[i].second), both);
    t.give(i, i < p.variables ? Edge(t.make("GatherV2", {all, last, one}, lists[i].second)) : all);
  }
}

void scan(Translation& t) { t.opset() < 9 ? scan_batches(t) : scan_slices(t); }

NPU_ONNX("Scan", scan);

}  // namespace
}  // namespace npu::graph::onnx
