// SPDX-License-Identifier: Apache-2.0
// ONNX's operators whose results have sizes that only elements tell, and those that put elements in order.
#include <algorithm>
#include <numeric>

#include "graph/node/onnx/ordered.h"
#include "graph/run/frame.h"
#include "graph/value/value.h"
#include "ops/runner/call.h"

namespace npu::graph::onnx {
namespace {

Value fresh(const Frame& frame, DType dtype, const Dims& shape) { return make_value(frame.device(), dtype, shape); }

/// One row for each axis, one column for each element that is not zero.
void nonzero(Lowering& l) {
  decline_objects(l);
  const Planned in = l.input(0), out = l.dynamic(0, DType::kInt64);
  l.run({in, out}, [in, out](Frame& frame) {
    const Tensor from = frame.tensor(in);
    const auto rank = static_cast<int64_t>(std::max<size_t>(from.rank(), 1));
    Value room = fresh(frame, DType::kInt64, {from.count(), rank});
    Tensor said = room.tensor, view = room.tensor;
    view.origin = &said;
    ops::Call("nonzero").set("self", from).set("out", view).run();
    const int64_t found = from.rank() == 0 ? static_cast<int64_t>(said.count() > 0) : said.shape[0];
    Value result = fresh(frame, DType::kInt64, {static_cast<int64_t>(from.rank()), found});
    if (from.rank() > 0) {
      const Tensor rows = room.tensor.view({found, rank}, contiguous_strides({found, rank}));
      ops::Call("copy").set("self", ops::Operand{rows.transposed(0, 1), {}}).set("out", result.tensor).run();
    }
    frame.set(out, std::move(result));
  });
}

/// Slices along an axis, or elements of the whole, where the condition is true; a shorter condition ends early.
void compress(Lowering& l) {
  decline_objects(l);
  const Planned in = in_rows(l, l.input(0)), condition = l.input(1), out = l.dynamic(0, in.dtype());
  const bool flat = !l.attributes().has("axis");
  const Dims shape = flat ? Dims{in.view.count()} : in.shape();
  const size_t axis = flat ? 0 : checked_axis(int_attribute(l, "axis", 0), shape.size());
  require(condition.shape().size() == 1 && condition.shape()[0] <= shape[axis],
          "the condition is {}; it must be a vector of at most {}", condition.shape(), shape[axis]);
  const Planned from = reshaped(in, shape);
  l.run({from, condition, out}, [=](Frame& frame) {
    const Tensor flags = frame.tensor(condition);
    std::vector<int64_t> places;
    for (int64_t i = 0; i < flags.count(); ++i)
      if (flags.as<bool>()[i * flags.strides[0]]) places.push_back(i);
    Dims size = shape;
    size[axis] = static_cast<int64_t>(places.size());
    Value result = fresh(frame, from.dtype(), size);
    if (!places.empty())
      ops::Call("index_select")
          .set("self", frame.tensor(from))
          .set("dim", static_cast<int64_t>(axis))
          .set("index", make_tensor(places.data(), DType::kInt64, {size[axis]}))
          .set("out", result.tensor)
          .run();
    frame.set(out, std::move(result));
  });
}

void top_k(Lowering& l) {
  const Planned in = l.input(0);
  require(!in.shape().empty(), "the input has no axis");
  const int64_t k = l.attributes().has("k") ? int_attribute(l, "k", 1) : integer(l, at(l, 1));
  const size_t axis = checked_axis(int_attribute(l, "axis", -1), in.shape().size());
  require(k >= 0 && k <= in.shape()[axis], "{} elements are asked of an axis of {}", k, in.shape()[axis]);
  Dims shape = in.shape();
  shape[axis] = k;
  const OrderedResult values(l, 0, in, shape);
  const Planned places = wants(l, 1) ? l.make(1, DType::kInt64, shape) : l.scratch(DType::kInt64, shape);
  const Planned from = ordered(l, in);
  l.call("topk")
      .set("self", from)
      .set("k", k)
      .set("dim", static_cast<int64_t>(axis))
      .set("largest", int_attribute(l, "largest", 1) != 0)
      .set("sorted", true)
      .set("values", values.rows())
      .set("indices", places);
  values.store(l);
}

/// The different elements or slices, where each was first, which of them stands where, and how often.
struct Different {
  std::vector<int64_t> first, inverse, counts;
};

/// `rows` slices of `length` elements each, by `compare(a, b)` of two of them.
template <class T>
Different different(const T* from, int64_t rows, int64_t length, bool sorted) {
  const auto less = [&](int64_t a, int64_t b) {
    return std::lexicographical_compare(from + a * length, from + (a + 1) * length, from + b * length,
                                        from + (b + 1) * length);
  };
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, less);
  std::vector<std::vector<int64_t>> groups;
  for (const int64_t row : order) {
    if (groups.empty() || less(groups.back().front(), row)) groups.emplace_back();
    groups.back().push_back(row);
  }
  if (!sorted) std::ranges::sort(groups, {}, [](const auto& group) { return group.front(); });
  Different d{{}, std::vector<int64_t>(static_cast<size_t>(rows)), {}};
  for (size_t g = 0; g < groups.size(); ++g) {
    d.first.push_back(groups[g].front());
    d.counts.push_back(static_cast<int64_t>(groups[g].size()));
    for (const int64_t row : groups[g]) d.inverse[static_cast<size_t>(row)] = static_cast<int64_t>(g);
  }
  return d;
}

Value integers(const Frame& frame, const std::vector<int64_t>& values) {
  Value out = fresh(frame, DType::kInt64, {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, out.tensor.as<int64_t>());
  return out;
}

/// The axis whose slices are compared, brought to the front; without one, all elements are slices of their own.
void unique(Lowering& l) {
  const bool flat = !l.attributes().has("axis"), sorted = int_attribute(l, "sorted", 1) != 0;
  const Planned in = l.input(0);
  const size_t axis = flat ? 0 : checked_axis(int_attribute(l, "axis", 0), in.shape().size());
  std::vector<int64_t> order{static_cast<int64_t>(axis)};
  for (size_t i = 0; i < in.shape().size(); ++i)
    if (i != axis) order.push_back(static_cast<int64_t>(i));
  const Planned rows = in_rows(l, flat || axis == 0 ? in : permuted(in, order));
  std::vector<Planned> outs{l.dynamic(0, in.dtype())};
  for (size_t i = 1; i < l.node().outputs.size(); ++i) outs.push_back(l.dynamic(i, DType::kInt64));
  const Dims whole = in.shape();
  l.run({rows}, outs, [=](Frame& frame) {
    const Tensor from = frame.tensor(rows);
    const int64_t count = flat ? from.count() : from.shape[0], length = count > 0 ? from.count() / count : 0;
    Different d;
    visit_dtype(from.dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_convertible_v<T, double>) d = different(from.as<T>(), count, length, sorted);
    });
    Dims shape = flat ? Dims{0} : whole;
    shape[axis] = static_cast<int64_t>(d.first.size());
    Value result = fresh(frame, from.dtype, shape);
    const Tensor slices = flat ? from.view({count}, {1}) : from;
    Tensor to = result.tensor;
    for (size_t i = axis; i > 0 && !flat; --i) to = to.transposed(i, i - 1);
    if (!d.first.empty())
      ops::Call("index_select")
          .set("self", slices)
          .set("dim", int64_t{0})
          .set("index", make_tensor(d.first.data(), DType::kInt64, {static_cast<int64_t>(d.first.size())}))
          .set("out", to)
          .run();
    frame.set(outs[0], std::move(result));
    const std::vector<int64_t>* more[] = {&d.first, &d.inverse, &d.counts};
    for (size_t i = 1; i < outs.size(); ++i) frame.set(outs[i], integers(frame, *more[i - 1]));
  });
}

NPU_NODE("ai.onnx::NonZero", nonzero);
NPU_NODE("ai.onnx::Compress", compress);
NPU_NODE("ai.onnx::TopK", top_k);
NPU_NODE("ai.onnx::Unique", unique);

}  // namespace
}  // namespace npu::graph::onnx
