// SPDX-License-Identifier: Apache-2.0
// Nodes whose outputs' sizes depend on elements: what is true, what is different, parts and their putting together.
#include <algorithm>
#include <numeric>

#include "graph/node/array.h"
#include "graph/run/frame.h"
#include "graph/value/value.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

Value fresh(const Frame& frame, DType dtype, const Dims& shape) { return make_value(frame.device(), dtype, shape); }

/// Room for the largest result, cut to what is used; `origin` gets the shape from the operator.
struct Room {
  Room(const Frame& frame, DType dtype, const Dims& shape) : value(fresh(frame, dtype, shape)), said(value.tensor) {
    view = value.tensor;
    view.origin = &said;
  }
  Value take(const Frame& frame) {
    value.tensor = value.tensor.view(said.shape, contiguous_strides(said.shape));
    // What is left over would stay allocated as long as the value lives.
    const bool wasteful = 2 * value.tensor.count() < view.count();
    return wasteful ? copy_of(frame.device(), value.tensor) : std::move(value);
  }
  Value value;
  Tensor said, view;
};

/// Positions of what is not zero, one row each.
void where(Lowering& l) {
  decline_objects(l);
  const Planned in = l.input(0), out = l.dynamic(0, DType::kInt64);
  l.run({in, out}, [in, out](Frame& frame) {
    const Tensor from = frame.tensor(in);
    Room room(frame, DType::kInt64, {from.count(), static_cast<int64_t>(from.rank())});
    ops::Call("nonzero").set("self", from).set("out", room.view).run();
    frame.set(out, room.take(frame));
  });
}

/// The different elements, where each element went, and, when there is a third output, how many they were.
void unique(Lowering& l) {
  decline_objects(l);
  const Planned in = l.input(0);
  if (is_complex(in.dtype())) l.decline("different complex numbers are left to the client");
  require(in.shape().size() == 1, "unique expects a 1D vector; the input is {}", in.shape());
  const bool counted = l.node().outputs.size() == 3;
  const Planned out = l.dynamic(0, in.dtype()), places = l.late(1, out_type(l, 1), in.shape());
  const Planned counts = counted ? l.dynamic(2, out_type(l, 2)) : out;
  l.run({in, out, places, counts}, [=](Frame& frame) {
    const Tensor from = frame.tensor(in);
    Room different(frame, from.dtype, from.shape), sizes(frame, counted ? counts.dtype() : DType::kInt64, from.shape);
    Value positions = fresh(frame, places.dtype(), from.shape);
    ops::Call call("unique_in_order");
    call.set("self", from).set("y", different.view).set("inverse", positions.tensor);
    if (counted) call.set("counts", sizes.view);
    call.run();
    frame.set(out, different.take(frame));
    frame.set(places, std::move(positions));
    if (counted) frame.set(counts, sizes.take(frame));
  });
}

/// Of vectors, along their only axis.
void unique_v2(Lowering& l) {
  if (l.shape(0).size() != 1) l.decline("different slices are left to the client");
  for (const int64_t axis : l.integers(1)) require(axis == 0 || axis == -1, "axis {} lies outside [-1, 1)", axis);
  unique(l);
}

std::vector<int64_t> integers_of(const Frame& frame, const Tensor& tensor) {
  const Value wide = fresh(frame, DType::kInt64, tensor.shape);
  ops::Call("copy").set("self", ops::Operand{tensor, {}}).set("out", wide.tensor).run();
  return {wide.tensor.as<int64_t>(), wide.tensor.as<int64_t>() + tensor.count()};
}

/// `data` as slices: its first `axes` axes become one.
Value slices_of(const Frame& frame, const Tensor& data, size_t axes) {
  Value value{data, nullptr, nullptr};
  if (!data.contiguous()) value = copy_of(frame.device(), data);
  Dims shape{1};
  for (size_t i = 0; i < data.rank(); ++i)
    if (i < axes)
      shape[0] *= data.shape[i];
    else
      shape.push_back(data.shape[i]);
  value.tensor = value.tensor.view(shape, contiguous_strides(shape));
  return value;
}

void partition(Lowering& l) {
  decline_objects(l);
  const Planned data = l.input(0), ids = l.input(1);
  require(ids.shape().size() <= data.shape().size() &&
              std::equal(ids.shape().begin(), ids.shape().end(), data.shape().begin()),
          "data.shape must start with partitions.shape, got data.shape = {}, partitions.shape = {}", data.shape(),
          ids.shape());
  std::vector<Planned> outs;
  for (size_t i = 0; i < l.node().outputs.size(); ++i) outs.push_back(l.dynamic(i, data.dtype()));
  l.run({data, ids}, outs, [=](Frame& frame) {
    const Tensor numbers = frame.tensor(ids);
    const std::vector<int64_t> parts = integers_of(frame, numbers);
    std::vector<std::vector<int64_t>> rows(outs.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      require(parts[i] >= 0 && std::cmp_less(parts[i], rows.size()), "partitions[{}] = {} is not in [0, {})", i,
              parts[i], rows.size());
      rows[static_cast<size_t>(parts[i])].push_back(static_cast<int64_t>(i));
    }
    const Value slices = slices_of(frame, frame.tensor(data), numbers.rank());
    for (size_t p = 0; p < rows.size(); ++p) {
      Dims shape = slices.tensor.shape;
      shape[0] = static_cast<int64_t>(rows[p].size());
      Value part = fresh(frame, slices.tensor.dtype, shape);
      ops::Call("index_select")
          .set("self", slices.tensor)
          .set("index", make_tensor(rows[p].data(), DType::kInt64, {shape[0]}))
          .set("out", part.tensor)
          .run();
      frame.set(outs[p], std::move(part));
    }
  });
}

/// The shape behind the axes that the indices take up.
Dims slice_shape(const Dims& data, const Dims& indices) {
  require(indices.size() <= data.size() && std::equal(indices.begin(), indices.end(), data.begin()),
          "data is {}; it must start with the shape of its indices, {}", data, indices);
  return Dims(std::span(data.data() + indices.size(), data.size() - indices.size()));
}

/// Slices of each data to the places its indices name; later ones win. Known indices make a plain copy by index.
void stitch_known(Lowering& l, size_t lists) {
  int64_t last = -1;
  for (size_t i = 0; i < lists; ++i)
    for (const int64_t index : l.integers(i)) last = std::max(last, index);
  Dims shape{last + 1};
  for (const int64_t size : slice_shape(l.shape(lists), l.shape(0))) shape.push_back(size);
  const Planned out = l.make(0, l.dtype(lists), shape);
  fill(l, out, Scalar(0));
  for (size_t i = 0; i < lists; ++i) {
    Dims rows = shape;
    rows[0] = l.input(i).view.count();
    const Planned index = reshaped(in_rows(l, l.input(i)), {rows[0]});
    const Planned source = reshaped(in_rows(l, l.input(lists + i)), rows);
    l.call("index_copy").set("self", out).set("index", index).set("source", source).set("out", out);
  }
}

void stitch(Lowering& l) {
  decline_objects(l);
  const size_t lists = l.input_count() / 2;
  const Dims rest = slice_shape(l.shape(lists), l.shape(0));
  bool known = true;
  for (size_t i = 0; i < lists; ++i) {
    known = known && l.known(i);
    require(slice_shape(l.shape(lists + i), l.shape(i)) == rest, "data 0 and {} are {} and {}; their slices differ", i,
            l.shape(lists), l.shape(lists + i));
  }
  if (known) return stitch_known(l, lists);
  const std::vector<Planned> inputs = l.inputs();
  const Planned out = l.dynamic(0, l.dtype(lists));
  l.run(inputs, {out}, [=](Frame& frame) {
    std::vector<std::vector<int64_t>> places;
    int64_t last = -1;
    for (size_t i = 0; i < lists; ++i) {
      places.push_back(integers_of(frame, frame.tensor(inputs[i])));
      for (const int64_t index : places.back()) last = std::max(last, index);
    }
    Dims shape{last + 1};
    for (const int64_t size : rest) shape.push_back(size);
    Value result = fresh(frame, out.dtype(), shape);
    ops::Call("copy").set("self", ops::Operand{{}, Scalar(0)}).set("out", result.tensor).run();
    for (size_t i = 0; i < lists; ++i) {
      const Value slices = slices_of(frame, frame.tensor(inputs[lists + i]), inputs[i].shape().size());
      ops::Call("index_copy")
          .set("self", result.tensor)
          .set("index", make_tensor(places[i].data(), DType::kInt64, {slices.tensor.shape[0]}))
          .set("source", slices.tensor)
          .set("out", result.tensor)
          .run();
    }
    frame.set(out, std::move(result));
  });
}

NPU_NODE("Where", where);
NPU_NODE("Unique", unique);
NPU_NODE("UniqueWithCounts", unique);
NPU_NODE("UniqueV2", unique_v2);
NPU_NODE("UniqueWithCountsV2", unique_v2);
NPU_NODE("DynamicPartition", partition);
NPU_NODE("DynamicStitch", stitch);
NPU_NODE("ParallelDynamicStitch", stitch);

}  // namespace
}  // namespace npu::graph
