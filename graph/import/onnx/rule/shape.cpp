// SPDX-License-Identifier: Apache-2.0
// Constants, and operators that move elements or look at shapes.
#include <algorithm>
#include <numeric>

#include "graph/import/onnx/tensor.h"
#include "graph/import/onnx/translation.h"
#include "graph/ir/literal.h"

namespace npu::graph::onnx {
namespace {

void constant(Translation& t) {
  const NodeView& node = t.node();
  const auto& folder = t.walker().folder();
  if (const auto at = node.tensors.find("value"); at != node.tensors.end())
    return t.give(0, t.constant(read_tensor(at->second, folder)));
  if (const auto at = node.sparse_tensors.find("sparse_value"); at != node.sparse_tensors.end())
    return t.give(0, t.constant(read_sparse(at->second, folder)));
  if (t.has_attribute("value_int")) return t.give(0, t.integer(t.required<int64_t>("value_int")));
  if (t.has_attribute("value_float")) return t.give(0, t.number(DType::kFloat, t.required<double>("value_float")));
  if (t.has_attribute("value_ints")) return t.give(0, t.ints(t.required<std::vector<int64_t>>("value_ints")));
  if (t.has_attribute("value_floats")) {
    const auto values = t.required<std::vector<double>>("value_floats");
    const std::vector<float> narrow(values.begin(), values.end());
    return t.give(0, t.constant(literal_of(narrow)));
  }
  t.refuse("its value is no tensor of numbers");
}

/// Sizes of 0 are taken over from the input, unless allowzero says that they are zeros.
void reshape(Translation& t) {
  const Edge x = t.in(0), sizes = t.in(1);
  Made made = t.make("Reshape", {x, sizes}, t.dtype(x));
  if (t.attribute<int64_t>("allowzero", 0) == 0) made.with("zero_copies", true);
  if (auto known = t.integers(sizes)) made.shaped({Dims(std::vector<int64_t>(known->size(), kUnknownDim))});
  t.give(0, made);
}

PartialShape unknown_dims(std::optional<size_t> rank) {
  return rank ? PartialShape{Dims(std::vector<int64_t>(*rank, kUnknownDim))} : PartialShape::unknown();
}

void transpose(Translation& t) {
  const Edge x = t.in(0);
  auto order = t.attribute<std::vector<int64_t>>("perm", {});
  const auto rank = t.rank(x);
  if (order.empty() && rank) {
    order.resize(*rank);
    std::iota(order.rbegin(), order.rend(), 0);
  }
  if (order.empty() && rank != 0u) return t.give(0, t.itself({ValueType::tensor(t.dtype(x))}));
  t.give(0, t.make("Transpose", {x, t.ints(order)}, t.dtype(x)).shaped(unknown_dims(order.size())));
}

void squeeze(Translation& t) {
  const Edge x = t.in(0);
  if (!t.has_attribute("axes") && t.has(1) && !t.integers(t.in(1)))
    return t.give(0, t.itself({ValueType::tensor(t.dtype(x))}));
  const auto axes = t.list("axes", 1);
  Made made = t.make("Squeeze", {x}, t.dtype(x)).with("squeeze_dims", axes.value_or(std::vector<int64_t>{}));
  if (const auto rank = t.rank(x); rank && axes && axes->size() <= *rank)
    made.shaped(unknown_dims(*rank - axes->size()));
  t.give(0, made);
}

void unsqueeze(Translation& t) {
  const Edge x = t.in(0);
  const bool known = t.has_attribute("axes") || (t.has(1) && t.integers(t.in(1)));
  const auto axes = known ? t.list("axes", 1) : std::nullopt;
  const auto rank = t.rank(x);
  const PartialShape shape = rank && axes ? unknown_dims(*rank + axes->size()) : PartialShape::unknown();
  if (axes && axes->size() == 1)
    return t.give(0, t.make("ExpandDims", {x, t.integer(axes->front())}, t.dtype(x)).shaped(shape));
  t.give(0, t.itself({ValueType::tensor(t.dtype(x))}).shaped(shape));
}

void concat(Translation& t) {
  std::vector<Edge> parts = t.ins();
  std::optional<size_t> rank;
  for (const Edge& part : parts)
    if (!rank) rank = t.rank(part);
  const DType dtype = t.dtype(parts.front());
  const auto count = static_cast<int64_t>(parts.size());
  parts.push_back(t.integer(t.required<int64_t>("axis")));
  t.give(0, t.make("ConcatV2", parts, dtype).with("N", count).shaped(unknown_dims(rank)));
}

/// Indices may be negative: they count from the end.
void gather(Translation& t) {
  const Edge x = t.in(0), indices = t.in(1);
  const auto rank = t.rank(x), more = t.rank(indices);
  Made made = t.itself({ValueType::tensor(t.dtype(x))});
  if (rank && more && *rank > 0) made.shaped(unknown_dims(*rank + *more - 1));
  t.give(0, made);
}

void constant_of_shape(Translation& t) {
  const auto at = t.node().tensors.find("value");
  Edge value = t.number(DType::kFloat, 0);
  if (at != t.node().tensors.end()) {
    Literal one = read_tensor(at->second, t.walker().folder());
    one.shape = {};
    value = t.constant(one);
  }
  t.give(0, t.make("Fill", {t.in(0), value}, t.dtype(value)));
}

void range(Translation& t) { t.give(0, t.make("Range", {t.in(0), t.in(1), t.in(2)}, t.dtype(t.in(0)))); }

void cumulative_sum(Translation& t) {
  const Edge x = t.in(0);
  t.give(0, t.make("Cumsum", {x, t.in(1)}, t.dtype(x))
                .with("exclusive", t.attribute<int64_t>("exclusive", 0) != 0)
                .with("reverse", t.attribute<int64_t>("reverse", 0) != 0)
                .shaped(t.value(x).shape));
}

void reverse_sequence(Translation& t) {
  const Edge x = t.in(0);
  t.give(0, t.make("ReverseSequence", {x, t.in(1)}, t.dtype(x))
                .with("batch_dim", t.attribute<int64_t>("batch_axis", 1))
                .with("seq_dim", t.attribute<int64_t>("time_axis", 0))
                .shaped(t.value(x).shape));
}

void eye_like(Translation& t) {
  DType type = t.dtype(t.in(0));
  if (t.has_attribute("dtype")) type = element_type(t.required<int64_t>("dtype"));
  if (type == DType::kUndefined) t.refuse("its dtype is one that the NPU does not compute");
  t.give(0, t.itself({ValueType::tensor(type)}));
}

/// The axes of a reduction where they are known: an attribute, or an input since opset 13 (sums) and 18 (the others).
struct Axes {
  bool known = true;
  std::vector<int64_t> axes;  ///< empty: none are named
};
Axes axes_of(Translation& t) {
  if (!t.has_attribute("axes") && t.has(1) && !t.integers(t.in(1))) return {false, {}};
  return {true, t.list("axes", 1).value_or(std::vector<int64_t>{})};
}

/// Reductions that passes look for, where their axes are known.
void reduce(Translation& t, std::string_view op) {
  const Edge x = t.in(0);
  const Axes a = axes_of(t);
  if (!a.known || a.axes.empty()) return t.give(0, t.itself({ValueType::tensor(t.dtype(x))}));
  const bool keep = t.attribute<int64_t>("keepdims", 1) != 0;
  const auto rank = t.rank(x);
  Made made = t.make(op, {x, t.ints(a.axes)}, t.dtype(x)).with("keep_dims", keep);
  if (rank && a.axes.size() <= *rank) made.shaped(unknown_dims(keep ? *rank : *rank - a.axes.size()));
  t.give(0, made);
}
void reduce_sum(Translation& t) { reduce(t, "Sum"); }
void reduce_mean(Translation& t) {
  // Means of integers are rounded otherwise.
  if (is_integer(t.dtype(t.in(0)))) return t.give(0, t.itself({ValueType::tensor(t.dtype(t.in(0)))}));
  reduce(t, "Mean");
}

NPU_ONNX("Constant", constant);
NPU_ONNX("Reshape", reshape);
NPU_ONNX("Transpose", transpose);
NPU_ONNX("Squeeze", squeeze);
NPU_ONNX("Unsqueeze", unsqueeze);
NPU_ONNX("Concat", concat);
NPU_ONNX("Gather", gather);
NPU_ONNX("ConstantOfShape", constant_of_shape);
NPU_ONNX("Range", range);
NPU_ONNX("CumSum", cumulative_sum);
NPU_ONNX("ReverseSequence", reverse_sequence);
NPU_ONNX("EyeLike", eye_like);
NPU_ONNX("ReduceSum", reduce_sum);
NPU_ONNX("ReduceMean", reduce_mean);

}  // namespace
}  // namespace npu::graph::onnx
