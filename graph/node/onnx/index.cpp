// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that read and write at positions which a tensor names. Negative ones count from the end.
#include <algorithm>

#include "graph/node/onnx/inputs.h"

namespace npu::graph::onnx {
namespace {

void append(Dims& to, std::span<const int64_t> sizes) {
  for (const int64_t size : sizes) to.push_back(size);
}

ops::Operand number_of(int64_t value) { return {{}, Scalar(value)}; }

/// Indices along an axis of `size` without negative ones.
Planned wrapped(Lowering& l, const Planned& indices, int64_t size) {
  if (indices.literal) {
    const std::vector<int64_t> values = l.integers(at(l, 1));
    if (std::ranges::all_of(values, [](int64_t v) { return v >= 0; })) return indices;
  }
  const Planned below = l.scratch(DType::kBool, indices.shape());
  const Planned more = l.scratch(indices.dtype(), indices.shape()), out = l.scratch(indices.dtype(), indices.shape());
  l.call("lt").set("self", indices).set("other", number_of(0)).set("out", below);
  l.call("add").set("self", indices).set("other", number_of(size)).set("out", more);
  l.call("where").set("condition", below).set("self", more).set("other", indices).set("out", out);
  return out;
}

void gather(Lowering& l) {
  decline_objects(l);
  const Dims &shape = l.shape(0), &index = l.shape(1);
  const size_t axis = checked_axis(int_attribute(l, "axis", 0), shape.size());
  Dims out(std::span(shape.data(), axis));
  append(out, std::span(index.data(), index.size()));
  append(out, std::span(shape.data(), shape.size()).subspan(axis + 1));
  const Planned places = wrapped(l, l.input(1), shape[axis]);
  l.call("index_select")
      .set("self", l.input(0))
      .set("dim", static_cast<int64_t>(axis))
      .set("index", places)
      .set("out", l.make(0, l.dtype(0), out));
}

void gather_elements(Lowering& l) {
  const size_t axis = checked_axis(int_attribute(l, "axis", 0), l.shape(0).size());
  const Planned places = wrapped(l, l.input(1), l.shape(0)[axis]);
  l.call("gather")
      .set("self", l.input(0))
      .set("dim", static_cast<int64_t>(axis))
      .set("index", places)
      .set("out", l.make(0, l.dtype(0), l.shape(1)));
}

/// The places that rows of `indices` name in [sizes…], without negative ones.
Planned wrapped_rows(Lowering& l, const Planned& indices, const Dims& sizes) {
  std::vector<int64_t> row(sizes.begin(), sizes.end());
  const Planned below = l.scratch(DType::kBool, indices.shape()), rows = given_integers(l, row);
  const Planned more = l.scratch(DType::kInt64, indices.shape()), out = l.scratch(DType::kInt64, indices.shape());
  l.call("lt").set("self", indices).set("other", number_of(0)).set("out", below);
  l.call("add").set("self", indices).set("other", rows).set("out", more);
  l.call("where").set("condition", below).set("self", more).set("other", indices).set("out", out);
  return out;
}

/// The sizes that rows of `indices` point into, behind `batch` axes in common.
Dims pointed_into(const Dims& shape, const Dims& indices, size_t batch) {
  require(!indices.empty() && std::cmp_less_equal(indices.back(), shape.size() - batch),
          "rows of {} numbers are to point into {} behind {} axes", indices.empty() ? 0 : indices.back(), shape, batch);
  return Dims(std::span(shape.data() + batch, static_cast<size_t>(indices.back())));
}

/// batch_dims: the first axes are walked together; their position is written in front of each row.
void gather_nd(Lowering& l) {
  decline_objects(l);
  const auto batch = static_cast<size_t>(int_attribute(l, "batch_dims", 0));
  const Dims shape = l.shape(0), index = l.shape(1);
  require(batch < index.size() && batch <= shape.size(), "batch_dims is {}; the input is {}, the indices are {}", batch,
          shape, index);
  const Dims sizes = pointed_into(shape, index, batch);
  const Planned rows = wrapped_rows(l, l.input(1), sizes);
  Dims out(std::span(index.data(), index.size() - 1));
  append(out, std::span(shape.data(), shape.size()).subspan(batch + sizes.size()));
  const Planned result = l.make(0, l.dtype(0), out);
  if (batch == 0) {
    l.call("gather_nd").set("self", l.input(0)).set("indices", rows).set("out", result);
    return;
  }
  Dims whole = index;
  whole.back() += static_cast<int64_t>(batch);
  const Planned places = l.scratch(DType::kInt64, whole);
  for (size_t b = 0; b < batch; ++b) {
    std::vector<int64_t> steps(static_cast<size_t>(shape[b]));
    for (size_t i = 0; i < steps.size(); ++i) steps[i] = static_cast<int64_t>(i);
    Dims column = index, strides(index.size(), 0);
    column.back() = 1, strides[b] = 1;
    copy(l, restrided(given_integers(l, steps), column, strides),
         narrowed(places, whole.size() - 1, static_cast<int64_t>(b), 1));
  }
  copy(l, rows, narrowed(places, whole.size() - 1, static_cast<int64_t>(batch), index.back()));
  l.call("gather_nd").set("self", l.input(0)).set("indices", places).set("out", result);
}

/// Numbers of the operators' attribute `reduction`.
int64_t reduction_of(const Lowering& l) {
  const std::string word = text_attribute(l, "reduction", "none");
  if (word == "none") return 0;
  if (word == "add") return 1;
  if (word == "mul") return 2;
  if (word == "max") return 3;
  if (word == "min") return 4;
  fail(Code::kNnInvalidParam, "reduction is '{}'; none, add, mul, max and min are known", word);
}

void scatter_elements(Lowering& l) {
  const size_t axis = checked_axis(int_attribute(l, "axis", 0), l.shape(0).size());
  const Planned places = wrapped(l, l.input(1), l.shape(0)[axis]);
  l.call("scatter")
      .set("self", l.input(0))
      .set("dim", static_cast<int64_t>(axis))
      .set("index", places)
      .set("src", l.input(2))
      .set("reduction", reduction_of(l))
      .set("out", l.make(0, l.dtype(0), l.shape(0)));
}

void scatter_nd(Lowering& l) {
  decline_objects(l);
  const Planned out = l.make(0, l.dtype(0), l.shape(0));
  const Planned rows = wrapped_rows(l, l.input(1), pointed_into(l.shape(0), l.shape(1), 0));
  l.call("scatter_nd_update")
      .set("self", l.input(0))
      .set("indices", rows)
      .set("updates", l.input(2))
      .set("reduction", reduction_of(l))
      .set("alpha", Scalar(1))
      .set("out", out);
}

/// Indices outside of [-depth, depth) name no place. The two values stand in one input, off before on.
void one_hot(Lowering& l) {
  const Planned indices = l.input(0), values = l.input(2);
  const auto depth = static_cast<int64_t>(number(l, 1).to_double());
  const size_t rank = indices.shape().size();
  const size_t axis = checked_axis(int_attribute(l, "axis", -1), rank + 1);
  Dims shape = indices.shape(), column = shape, strides = indices.view.strides, steps(rank + 1, 1);
  shape.insert(axis, depth), column.insert(axis, 1), strides.insert(axis, 0), steps[axis] = depth;
  const Planned place = l.scratch(DType::kInt64, indices.shape()), equal = l.scratch(DType::kBool, shape);
  copy(l, indices, place);
  const Planned at_place = wrapped(l, Planned{place.type, place.view, place.slot}, depth);
  const Planned numbers = l.scratch(DType::kInt64, {depth});
  l.call("arange").set("start", Scalar(0)).set("end", Scalar(depth)).set("step", Scalar(1)).set("out", numbers);
  Dims place_strides = at_place.view.strides;
  place_strides.insert(axis, 0);
  l.call("eq")
      .set("self", restrided(at_place, column, place_strides))
      .set("other", reshaped(numbers, steps))
      .set("out", equal);
  l.call("where")
      .set("condition", equal)
      .set("self", without_axis(values, 0, 1))
      .set("other", without_axis(values, 0, 0))
      .set("out", l.make(0, values.dtype(), shape));
}

NPU_NODE("ai.onnx::Gather", gather);
NPU_NODE("ai.onnx::GatherElements", gather_elements);
NPU_NODE("ai.onnx::GatherND", gather_nd);
NPU_NODE("ai.onnx::ScatterElements", scatter_elements);
NPU_NODE("ai.onnx::ScatterND", scatter_nd);
NPU_NODE("ai.onnx::OneHot", one_hot);

}  // namespace
}  // namespace npu::graph::onnx
