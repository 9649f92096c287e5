// SPDX-License-Identifier: Apache-2.0
#include "graph/node/array.h"

#include <algorithm>

#include "graph/plan/refusal.h"

namespace npu::graph {

Planned narrowed(Planned view, size_t axis, int64_t begin, int64_t size) {
  view.literal = nullptr;
  if (size > 0) view.view.offset += begin * view.view.strides[axis];
  view.view.shape[axis] = size;
  return view;
}

Planned reversed(Planned view, size_t axis) {
  view.literal = nullptr;
  Tensor& t = view.view;
  if (t.shape[axis] > 0) t.offset += (t.shape[axis] - 1) * t.strides[axis];
  t.strides[axis] = -t.strides[axis];
  return view;
}

Planned without_axis(Planned view, size_t axis, int64_t at) {
  view = narrowed(std::move(view), axis, at, 1);
  view.view.shape.erase(axis);
  view.view.strides.erase(axis);
  return view;
}

Planned expanded(Planned view, const Dims& shape) {
  view.literal = nullptr;
  view.view = view.view.expanded(shape);
  return view;
}

Planned restrided(Planned view, const Dims& shape, const Dims& strides) {
  view.literal = nullptr;
  view.view.shape = shape;
  view.view.strides = strides;
  return view;
}

void give(Lowering& l, size_t i, const Planned& view) {
  // Larger ones are not computed while planning; then a view is cheaper than a copy.
  constexpr int64_t kLargestKnown = 1 << 13;
  bool known = view.view.count() <= kLargestKnown;
  for (size_t k = 0; k < l.input_count(); ++k) known = known && l.known(k);
  const Dims& strides = view.view.strides;
  const bool backwards = std::any_of(strides.begin(), strides.end(), [](int64_t stride) { return stride < 0; });
  if (!backwards && (contiguous(view) || !known)) return l.alias(i, view);
  Planned from = view, to = l.make(i, view.dtype(), view.shape());
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    if (strides[axis] >= 0) continue;
    from = reversed(from, axis), to = reversed(to, axis);
  }
  copy(l, from, to);
}

Planned in_rows(Lowering& l, const Planned& view) {
  if (contiguous(view)) return view;
  const Planned out = l.scratch(view.dtype(), view.shape());
  copy(l, view, out);
  return out;
}

void copy(Lowering& l, const Planned& from, const Planned& to) { l.call("copy").set("self", from).set("out", to); }

void fill(Lowering& l, const Planned& to, const Scalar& value) {
  l.call("copy").set("self", ops::Operand{{}, value}).set("out", to);
}

Scalar number(const Lowering& l, size_t i) {
  if (!l.known(i)) l.integers(i);  // ends the plan
  const Planned& in = l.input(i);
  require(in.view.count() == 1, "input {} is {}; it must be one number", i, in.view);
  return Scalar(in.literal->bytes->data(), in.dtype());
}

int64_t integer(const Lowering& l, size_t i) {
  const std::vector<int64_t> values = l.integers(i);
  require(values.size() == 1, "input {} has {} elements; it must be one number", i, values.size());
  return values.front();
}

size_t checked_axis(int64_t axis, size_t rank) {
  const auto limit = static_cast<int64_t>(rank);
  require(axis >= -limit && axis < limit, "axis {} lies outside [{}, {})", axis, -limit, limit);
  return static_cast<size_t>(axis < 0 ? axis + limit : axis);
}

size_t axis_input(const Lowering& l, size_t i, size_t rank) { return checked_axis(integer(l, i), rank); }

Literal integer_literal(DType dtype, const Dims& shape, std::span<const int64_t> values) {
  require(dtype == DType::kInt32 || dtype == DType::kInt64, "its numbers are to be {}; int32 and int64 are possible",
          name_of(dtype));
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::kInt64)
      reinterpret_cast<int64_t*>(bytes.data())[i] = values[i];
    else
      reinterpret_cast<int32_t*>(bytes.data())[i] = static_cast<int32_t>(values[i]);
  }
  return {ValueType::tensor(dtype), shape, std::make_shared<const std::vector<std::byte>>(std::move(bytes)), nullptr};
}

DType out_type(const Lowering& l, size_t i) { return l.node().outputs[i].type.dtype; }

void decline_objects(const Lowering& l) {
  for (size_t i = 0; i < l.input_count(); ++i)
    if (is_object(l.input(i).type)) l.decline("it is about values that only the client understands");
}

void decline_unordered(const Lowering& l) {
  decline_objects(l);
  if (is_complex(l.dtype(0)) || l.dtype(0) == DType::kUInt64) l.decline("its type is ordered by the client only");
}

}  // namespace npu::graph
