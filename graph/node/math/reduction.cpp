// SPDX-License-Identifier: Apache-2.0
// Reductions over axes, positions of extremes, running sums and products.
#include <limits>

#include "graph/node/array.h"

namespace npu::graph {
namespace {

/// The axes in input 1, each once.
std::vector<int64_t> reduced_axes(const Lowering& l) {
  std::vector<int64_t> axes = l.integers(1);
  std::vector<bool> seen(l.shape(0).size());
  for (int64_t& axis : axes) {
    const size_t at = checked_axis(axis, seen.size());
    require(!seen[at], "axis {} is named twice", axis);
    seen[at] = true;
    axis = static_cast<int64_t>(at);
  }
  return axes;
}

Dims without(const Dims& shape, const std::vector<int64_t>& axes, bool keep) {
  Dims out;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool dropped = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!dropped || keep) out.push_back(dropped ? 1 : shape[i]);
  }
  return out;
}

void reduce(Lowering& l) {
  const Planned in = l.input(0);
  const std::vector<int64_t> axes = reduced_axes(l);
  if (axes.empty()) return give(l, 0, in);  // no axes: nothing is reduced
  const bool keep = l.attributes().get_or<bool>("keep_dims", false);
  const Planned out = l.make(0, in.dtype(), without(in.shape(), axes, keep));
  l.call(l.target()).set("self", in).set("dim", axes).set("keepdim", keep).set("out", out);
}

/// What the largest or smallest of nothing is.
Scalar end_of(DType dtype, bool lowest) {
  Scalar end(lowest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      end = Scalar(static_cast<int64_t>(lowest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max()));
  });
  return end;
}

void mean(Lowering& l) {
  if (!is_complex(l.dtype(0))) decline_unordered(l);
  reduce(l);
}

void extreme(Lowering& l) {
  decline_unordered(l);
  if (l.input(0).view.count() > 0) return reduce(l);
  const std::vector<int64_t> axes = reduced_axes(l);
  const bool keep = l.attributes().get_or<bool>("keep_dims", false);
  fill(l, l.make(0, l.dtype(0), without(l.shape(0), axes, keep)), end_of(l.dtype(0), l.target() == "amax"));
}

void norm(Lowering& l) {
  if (!is_floating(l.dtype(0))) l.decline("norms of integers are left to the client");
  const Planned in = l.input(0);
  const std::vector<int64_t> axes = reduced_axes(l);
  const bool keep = l.attributes().get_or<bool>("keep_dims", false);
  const Planned out = l.make(0, in.dtype(), without(in.shape(), axes, keep));
  if (axes.empty()) {
    l.call("abs").set("self", in).set("out", out);
    return;
  }
  l.call("vector_norm").set("self", in).set("dim", axes).set("keepdim", keep).set("out", out);
}

/// NaN is never an extreme here, unless nothing else is there.
Planned without_nan(Lowering& l, const Planned& in, bool lowest) {
  if (!is_floating(in.dtype())) return in;
  const double inf = std::numeric_limits<double>::infinity();
  const Planned out = l.scratch(in.dtype(), in.shape());
  l.call("nan_to_num")
      .set("self", in)
      .set("nan", ops::Operand{{}, Scalar(lowest ? -inf : inf)})
      .set("posinf", ops::Operand{{}, Scalar(inf)})
      .set("neginf", ops::Operand{{}, Scalar(-inf)})
      .set("out", out);
  return out;
}

void position(Lowering& l) {
  decline_unordered(l);
  const Planned in = l.input(0);
  const size_t axis = axis_input(l, 1, in.shape().size());
  require(in.shape()[axis] > 0, "reduction axis {} is empty in shape {}", axis, in.shape());
  const Planned out = l.make(0, out_type(l), without(in.shape(), {static_cast<int64_t>(axis)}, false));
  const Planned numbers = without_nan(l, in, l.target() == "argmax");
  l.call(l.target()).set("self", numbers).set("dim", static_cast<int64_t>(axis)).set("indices", out);
}

/// A copy that begins at the other end of the axis.
Planned turned(Lowering& l, const Planned& in, size_t axis, bool turn) {
  if (!turn) return in;
  const Planned out = l.scratch(in.dtype(), in.shape());
  copy(l, in, reversed(out, axis));
  return out;
}

void scan(Lowering& l) {
  const Planned in = l.input(0), out = l.make(0, in.dtype(), in.shape());
  const size_t axis = axis_input(l, 1, in.shape().size());
  const bool exclusive = l.attributes().get_or<bool>("exclusive", false);
  const bool reverse = l.attributes().get_or<bool>("reverse", false);
  Planned from = turned(l, in, axis, reverse);
  const Planned whole = reverse ? l.scratch(in.dtype(), in.shape()) : out;
  Planned to = whole;
  const int64_t size = in.shape()[axis];
  if (exclusive && size > 0) {
    fill(l, narrowed(whole, axis, 0, 1), Scalar(l.target() == "cumsum" ? 0 : 1));
    from = narrowed(from, axis, 0, size - 1);
    to = narrowed(whole, axis, 1, size - 1);
  }
  l.call(l.target()).set("self", from).set("dim", static_cast<int64_t>(axis)).set("out", to);
  if (reverse) copy(l, whole, reversed(out, axis));
}

NPU_NODE(Kind::kSum, reduce, "sum");
NPU_NODE(Kind::kMean, mean, "mean");
NPU_NODE("Prod", reduce, "prod");
NPU_NODE("All", reduce, "all");
NPU_NODE("Any", reduce, "any");
NPU_NODE("Max", extreme, "amax");
NPU_NODE("Min", extreme, "amin");
NPU_NODE("EuclideanNorm", norm);
NPU_NODE("ArgMax", position, "argmax");
NPU_NODE("ArgMin", position, "argmin");
NPU_NODE("Cumsum", scan, "cumsum");
NPU_NODE("Cumprod", scan, "cumprod");

}  // namespace
}  // namespace npu::graph
