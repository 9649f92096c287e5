// SPDX-License-Identifier: Apache-2.0
// ONNX's reductions, positions of extremes, and activations along an axis or with numbers of their own.
#include <algorithm>
#include <limits>
#include <numeric>

#include "graph/node/onnx/ordered.h"

namespace npu::graph::onnx {
namespace {

/// What a reduction goes over; axes are an attribute, or an input in newer opsets.
struct Reduction {
  std::vector<int64_t> axes;
  bool keep = true;
  Dims shape;  ///< of the result
};

Reduction reduction_of(const Lowering& l) {
  const Dims& shape = l.shape(0);
  Reduction r;
  r.axes = list(l, "axes", 1).value_or(std::vector<int64_t>{});
  r.keep = int_attribute(l, "keepdims", 1) != 0;
  const bool all = r.axes.empty() && int_attribute(l, "noop_with_empty_axes", 0) == 0;
  std::vector<bool> dropped(shape.size(), all);
  for (const int64_t axis : r.axes) dropped[checked_axis(axis, shape.size())] = true;
  r.axes.clear();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (dropped[i]) r.axes.push_back(static_cast<int64_t>(i));
    if (!dropped[i] || r.keep) r.shape.push_back(dropped[i] ? 1 : shape[i]);
  }
  return r;
}

void reduce_into(Lowering& l, std::string_view op, const Planned& from, const Reduction& r, const Planned& to) {
  if (r.axes.empty()) return copy(l, from, to);
  l.call(op).set("self", from).set("dim", r.axes).set("keepdim", r.keep).set("out", to);
}

void reduce(Lowering& l) {
  const Reduction r = reduction_of(l);
  reduce_into(l, l.target(), l.input(0), r, l.make(0, l.dtype(0), r.shape));
}

/// Of nothing: the identity of the operation.
void extreme(Lowering& l) {
  const bool largest = l.target() == "amax";
  const Reduction r = reduction_of(l);
  if (l.input(0).view.count() > 0) {
    const OrderedResult out(l, 0, l.input(0), r.shape);
    reduce_into(l, l.target(), ordered(l, l.input(0)), r, out.rows());
    return out.store(l);
  }
  const double end = std::numeric_limits<double>::infinity();
  fill(l, l.make(0, l.dtype(0), r.shape), Scalar(largest ? -end : end));
}

/// Sums and means of integers, which pass through no float.
void integer_mean(Lowering& l) {
  const Reduction r = reduction_of(l);
  const Planned out = l.make(0, l.dtype(0), r.shape);
  if (!is_integer(l.dtype(0))) return reduce_into(l, "mean", l.input(0), r, out);
  int64_t count = 1;
  for (const int64_t axis : r.axes) count *= l.shape(0)[static_cast<size_t>(axis)];
  reduce_into(l, "sum", l.input(0), r, out);
  l.call("div_mode")
      .set("self", out)
      .set("other", ops::Operand{{}, Scalar(std::max<int64_t>(count, 1))})
      .set("mode", int64_t{1})
      .set("out", out);
}

/// A sum of what `op` makes of each element.
void sum_of(Lowering& l, std::string_view op) {
  const Reduction r = reduction_of(l);
  const Planned in = l.input(0), each = l.scratch(in.dtype(), in.shape());
  if (op == "mul")
    l.call("mul").set("self", in).set("other", in).set("out", each);
  else
    l.call(op).set("self", in).set("out", each);
  reduce_into(l, "sum", each, r, l.make(0, in.dtype(), r.shape));
}
void sum_of_sizes(Lowering& l) { sum_of(l, "abs"); }
void sum_of_squares(Lowering& l) { sum_of(l, "mul"); }

void root_of_squares(Lowering& l) {
  sum_of_squares(l);
  const Planned sum = l.output(0);
  l.call("sqrt").set("self", sum).set("out", sum);
}

void log_of_sum(Lowering& l) {
  const Reduction r = reduction_of(l);
  const Planned out = l.make(0, l.dtype(0), r.shape);
  reduce_into(l, "sum", l.input(0), r, out);
  l.call("log").set("self", out).set("out", out);
}

void log_of_sum_of_exp(Lowering& l) {
  const Reduction r = reduction_of(l);
  const Planned out = l.make(0, l.dtype(0), r.shape);
  if (r.axes.empty()) return copy(l, l.input(0), out);
  l.call("logsumexp").set("self", l.input(0)).set("dim", r.axes).set("keepdim", r.keep).set("out", out);
}

/// select_last_index looks from the end.
void position(Lowering& l) {
  const Planned in = ordered(l, l.input(0));
  const size_t axis = checked_axis(int_attribute(l, "axis", 0), in.shape().size());
  const bool keep = int_attribute(l, "keepdims", 1) != 0, last = int_attribute(l, "select_last_index", 0) != 0;
  require(in.shape()[axis] > 0, "axis {} is empty in {}", axis, in.shape());
  Dims shape = in.shape();
  shape[axis] = 1;
  Planned from = in;
  if (last) {
    from = l.scratch(in.dtype(), in.shape());
    copy(l, in, reversed(from, axis));
  }
  const Planned out = keep ? l.make(0, DType::kInt64, shape) : [&] {
    Dims dropped = shape;
    dropped.erase(axis);
    return l.make(0, DType::kInt64, dropped);
  }();
  l.call(l.target()).set("self", from).set("dim", static_cast<int64_t>(axis)).set("keepdim", keep).set("indices", out);
  if (!last) return;
  l.call("neg").set("self", out).set("out", out);
  l.call("add").set("self", out).set("other", ops::Operand{{}, Scalar(in.shape()[axis] - 1)}).set("out", out);
}

/// One where the first largest element of an axis stands. Before opset 13 all axes from `axis` on count as one.
void hardmax(Lowering& l) {
  const Planned in = in_rows(l, l.input(0));
  const Dims& whole = in.shape();
  const bool flat = opset(l) < 13;
  const auto rank = static_cast<int64_t>(whole.size());
  const int64_t given = int_attribute(l, "axis", flat ? 1 : -1);
  require(given >= -rank && given <= rank - (flat ? 0 : 1), "axis {} lies outside of the rank {}", given, rank);
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  Dims shape = whole;
  size_t along = axis;
  if (flat) {
    shape = {1, 1}, along = 1;
    for (size_t i = 0; i < whole.size(); ++i) shape[i < axis ? 0 : 1] *= whole[i];
  }
  Dims best = shape, steps(shape.size(), 1);
  best[along] = 1, steps[along] = shape[along];
  const Planned out = l.make(0, in.dtype(), whole), place = l.scratch(DType::kInt64, best);
  const Planned numbers = l.scratch(DType::kInt64, {shape[along]}), equal = l.scratch(DType::kBool, shape);
  l.call("argmax")
      .set("self", reshaped(in, shape))
      .set("dim", static_cast<int64_t>(along))
      .set("keepdim", true)
      .set("indices", place);
  l.call("arange").set("start", Scalar(0)).set("end", Scalar(shape[along])).set("step", Scalar(1)).set("out", numbers);
  l.call("eq").set("self", place).set("other", reshaped(numbers, steps)).set("out", equal);
  copy(l, equal, reshaped(out, shape));
}

void elu(Lowering& l) {
  l.call("elu")
      .set("self", l.input(0))
      .set("alpha", ops::Operand{{}, Scalar(float_attribute(l, "alpha", 1))})
      .set("out", l.make(0, l.dtype(0), l.shape(0)));
}

void is_infinite(Lowering& l) {
  const bool up = int_attribute(l, "detect_positive", 1) != 0, down = int_attribute(l, "detect_negative", 1) != 0;
  const Planned in = l.input(0), out = l.make(0, DType::kBool, in.shape());
  if (!up && !down) return fill(l, out, Scalar(false));
  if (up != down) {
    l.call(up ? "isposinf" : "isneginf").set("self", in).set("out", out);
    return;
  }
  const Planned size = l.scratch(in.dtype(), in.shape());
  l.call("abs").set("self", in).set("out", size);
  l.call("isposinf").set("self", size).set("out", out);
}

NPU_NODE("ai.onnx::ReduceSum", reduce, "sum");
NPU_NODE("ai.onnx::ReduceMean", integer_mean);
NPU_NODE("ai.onnx::ReduceProd", reduce, "prod");
NPU_NODE("ai.onnx::ReduceMax", extreme, "amax");
NPU_NODE("ai.onnx::ReduceMin", extreme, "amin");
NPU_NODE("ai.onnx::ReduceL1", sum_of_sizes);
NPU_NODE("ai.onnx::ReduceL2", root_of_squares);
NPU_NODE("ai.onnx::ReduceSumSquare", sum_of_squares);
NPU_NODE("ai.onnx::ReduceLogSum", log_of_sum);
NPU_NODE("ai.onnx::ReduceLogSumExp", log_of_sum_of_exp);
NPU_NODE("ai.onnx::ArgMax", position, "argmax");
NPU_NODE("ai.onnx::ArgMin", position, "argmin");
NPU_NODE("ai.onnx::Hardmax", hardmax);
NPU_NODE("ai.onnx::Elu", elu);
NPU_NODE("ai.onnx::IsInf", is_infinite);

}  // namespace
}  // namespace npu::graph::onnx
