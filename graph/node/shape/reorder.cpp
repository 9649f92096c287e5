// SPDX-License-Identifier: Apache-2.0
// Elements in another order: reversed, rolled, sorted, and blocks moved between axes.
#include <algorithm>

#include "graph/node/array.h"
#include "graph/run/frame.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

void flip(Lowering& l, const std::vector<int64_t>& axes) {
  decline_objects(l);
  if (axes.empty() || l.shape(0).empty()) return give(l, 0, l.input(0));
  l.call("flip").set("self", l.input(0)).set("dims", axes).set("out", l.make(0, l.dtype(0), l.shape(0)));
}

void reverse_v2(Lowering& l) {
  std::vector<int64_t> axes = l.integers(1);
  std::vector<bool> seen(l.shape(0).size());
  for (const int64_t axis : axes) {
    const size_t at = checked_axis(axis, seen.size());
    require(!seen[at], "axis {} specified more than once.", axis);
    seen[at] = true;
  }
  flip(l, axes);
}

/// The first elements of each sequence turned round, as many as its length; the others stay. The position each element
/// comes from is computed, then read.
void reverse_sequence(Lowering& l) {
  const Planned in = l.input(0), lengths = l.input(1);
  const Dims& shape = in.shape();
  const size_t time = checked_axis(l.attributes().get<int64_t>("seq_dim"), shape.size());
  const size_t batch = checked_axis(l.attributes().get_or<int64_t>("batch_dim", 0), shape.size());
  require(time != batch, "batch_dim == seq_dim == {}", time);
  require(lengths.shape() == Dims{shape[batch]}, "Length of seq_lengths != input.dims({}), ({} vs. {})", batch,
          lengths.shape(), shape[batch]);
  const Dims plane{shape[batch], shape[time]};
  const Planned steps = l.scratch(DType::kInt64, {plane[1]}), back = l.scratch(DType::kInt64, plane),
                inside = l.scratch(DType::kBool, plane), from = l.scratch(DType::kInt64, plane);
  l.call("arange").set("start", Scalar(0)).set("end", Scalar(plane[1])).set("step", Scalar(1)).set("out", steps);
  const Planned column = restrided(lengths, {plane[0], 1}, {lengths.view.strides[0], 0});
  // length - 1 - step is negative behind the sequence.
  l.call("sub").set("self", column).set("other", steps).set("out", back);
  l.call("sub").set("self", back).set("other", ops::Operand{{}, Scalar(1)}).set("out", back);
  l.call("ge").set("self", back).set("other", ops::Operand{{}, Scalar(0)}).set("out", inside);
  l.call("where").set("condition", inside).set("self", back).set("other", steps).set("out", from);
  Dims strides(shape.size(), 0);
  strides[batch] = from.view.strides[0], strides[time] = from.view.strides[1];
  l.call("gather")
      .set("self", in)
      .set("dim", static_cast<int64_t>(time))
      .set("index", restrided(from, shape, strides))
      .set("out", l.make(0, in.dtype(), shape));
}

void roll(Lowering& l) {
  decline_objects(l);
  std::vector<int64_t> shifts = l.integers(1), axes = l.integers(2);
  require(shifts.size() == axes.size(), "shift and axis must have the same size: {} and {}", shifts.size(),
          axes.size());
  for (int64_t& axis : axes) axis = static_cast<int64_t>(checked_axis(axis, l.shape(0).size()));
  if (axes.empty()) return give(l, 0, l.input(0));
  l.call("roll")
      .set("self", l.input(0))
      .set("shifts", shifts)
      .set("dims", axes)
      .set("out", l.make(0, l.dtype(0), l.shape(0)));
}

void top_k(Lowering& l) {
  decline_unordered(l);
  const Planned in = l.input(0);
  const int64_t k = integer(l, 1);
  require(!in.shape().empty(), "input must be >= 1-D, got shape {}", in.shape());
  require(k >= 0 && k <= in.shape().back(), "input must have at least k columns. Had {}, needed {}", in.shape().back(),
          k);
  Dims shape = in.shape();
  shape.back() = k;
  l.call("topk")
      .set("self", in)
      .set("k", k)
      .set("values", l.make(0, in.dtype(), shape))
      .set("indices", l.make(1, out_type(l, 1), shape));
}

/// Whether fewer than k predictions of a row are above the target's. A row with a number that is not finite, or a
/// target outside, says no.
void in_top_k(Lowering& l) {
  const Planned scores = l.input(0), targets = l.input(1);
  require(scores.shape().size() == 2 && targets.shape() == Dims{scores.shape()[0]},
          "predictions must be 2-dimensional and targets as long: {} and {}", scores.shape(), targets.shape());
  const Dims plane = scores.shape(), rows{plane[0]};
  const std::vector<int64_t> across{1};
  const auto bools = [&](const Dims& shape) { return l.scratch(DType::kBool, shape); };
  const Planned classes = l.scratch(DType::kInt64, {plane[1]}), hit = bools(plane), found = bools(rows);
  l.call("arange").set("start", Scalar(0)).set("end", Scalar(plane[1])).set("step", Scalar(1)).set("out", classes);
  const Planned column = restrided(targets, {plane[0], 1}, {targets.view.strides[0], 0});
  l.call("eq").set("self", column).set("other", classes).set("out", hit);
  l.call("any").set("self", hit).set("dim", across).set("out", found);
  const Planned chosen = l.scratch(scores.dtype(), plane), target = l.scratch(scores.dtype(), {plane[0], 1});
  l.call("where")
      .set("condition", hit)
      .set("self", scores)
      .set("other", ops::Operand{{}, Scalar(0)})
      .set("out", chosen);
  l.call("sum").set("self", chosen).set("dim", across).set("keepdim", true).set("out", target);
  const Planned above = bools(plane), count = l.scratch(DType::kInt64, rows), good = bools(rows);
  l.call("gt").set("self", scores).set("other", target).set("out", above);
  l.call("sum").set("self", above).set("dim", across).set("out", count);
  const Planned k = l.input_count() == 3 ? l.input(2) : Planned();
  OperatorCall few = l.call("lt");
  few.set("self", count).set("out", good);
  if (l.input_count() == 3)
    few.set("other", k);
  else
    few.set("other", ops::Operand{{}, Scalar(l.attributes().get<int64_t>("k"))});
  const Planned finite = bools(plane), sound = bools(rows), out = l.make(0, DType::kBool, rows);
  l.call("isfinite").set("self", scores).set("out", finite);
  l.call("all").set("self", finite).set("dim", across).set("out", sound);
  l.call("logical_and").set("self", good).set("other", sound).set("out", good);
  l.call("logical_and").set("self", good).set("other", found).set("out", out);
}

/// `axis` as two: `outer` blocks of `inner`.
Planned split_axis(Planned view, size_t axis, int64_t inner) {
  view.literal = nullptr;
  Tensor& t = view.view;
  require(inner > 0 && t.shape[axis] % inner == 0, "dimension {} of {} is not a multiple of {}", axis, t.shape, inner);
  t.shape.insert(axis + 1, inner);
  t.strides.insert(axis + 1, t.strides[axis]);
  t.shape[axis] /= inner;
  t.strides[axis] *= inner;
  return view;
}

/// Output 0 of `shape` gets the elements of `view`, with its axes in `order`.
void regroup(Lowering& l, const Planned& view, const std::vector<int64_t>& order, const Dims& shape) {
  const Planned from = permuted(view, order);
  copy(l, from, reshaped(l.make(0, view.dtype(), shape), from.shape()));
}

bool channels_first(const Lowering& l) {
  const auto format = l.attributes().get_or<std::string>("data_format", "NHWC");
  if (format != "NHWC" && format != "NCHW") l.decline("this data format is left to the client");
  require(l.shape(0).size() == 4, "the input is {}; it must have 4 dimensions", l.shape(0));
  return format == "NCHW";
}

void depth_to_space(Lowering& l) {
  const bool first = channels_first(l);
  const auto size = l.attributes().get<int64_t>("block_size");
  Dims shape = l.shape(0);
  const size_t depth = first ? 1 : 3, height = first ? 2 : 1;
  require(shape[depth] % (size * size) == 0, "the depth of {} is not a multiple of {}", shape, size * size);
  const Planned view = split_axis(split_axis(l.input(0), depth, shape[depth] / (size * size)), depth, size);
  shape[depth] /= size * size, shape[height] *= size, shape[height + 1] *= size;
  regroup(l, view, first ? std::vector<int64_t>{0, 3, 4, 1, 5, 2} : std::vector<int64_t>{0, 1, 3, 2, 4, 5}, shape);
}

void space_to_depth(Lowering& l) {
  const bool first = channels_first(l);
  const auto size = l.attributes().get<int64_t>("block_size");
  Dims shape = l.shape(0);
  const size_t depth = first ? 1 : 3, height = first ? 2 : 1;
  const Planned view = split_axis(split_axis(l.input(0), height + 1, size), height, size);
  shape[depth] *= size * size, shape[height] /= size, shape[height + 1] /= size;
  regroup(l, view, first ? std::vector<int64_t>{0, 3, 5, 1, 2, 4} : std::vector<int64_t>{0, 1, 3, 2, 4, 5}, shape);
}

/// Block sizes (input 1) and pairs of paddings or crops (input 2) of the axes after the batch.
struct Blocks {
  explicit Blocks(const Lowering& l) : sizes(l.integers(1)), margins(l.integers(2)) {
    require(margins.size() == 2 * sizes.size() && l.shape(0).size() > sizes.size(),
            "{} block sizes and {} margins for {}", sizes.size(), margins.size(), l.shape(0));
    for (const int64_t size : sizes) product *= size;
    require(product > 0, "block sizes must be positive");
  }
  std::vector<int64_t> sizes, margins;
  int64_t product = 1;
};

void space_to_batch(Lowering& l) {
  const Blocks blocks(l);
  Planned padded = l.input(0);
  Dims shape = padded.shape();
  for (size_t i = 0; i < blocks.sizes.size(); ++i) shape[i + 1] += blocks.margins[2 * i] + blocks.margins[2 * i + 1];
  if (!(shape == padded.shape())) {
    const Planned whole = l.scratch(padded.dtype(), shape);
    Planned inside = whole;
    for (size_t i = 0; i < blocks.sizes.size(); ++i)
      inside = narrowed(inside, i + 1, blocks.margins[2 * i], padded.shape()[i + 1]);
    fill(l, whole, Scalar(0));
    copy(l, padded, inside);
    padded = whole;
  }
  std::vector<int64_t> order, rest{0};
  shape[0] *= blocks.product;
  for (size_t i = blocks.sizes.size(); i-- > 0;) {
    padded = split_axis(padded, i + 1, blocks.sizes[i]);
    shape[i + 1] /= blocks.sizes[i];
  }
  for (size_t i = 0; i < blocks.sizes.size(); ++i) {
    rest.push_back(static_cast<int64_t>(2 * i + 1));
    order.push_back(static_cast<int64_t>(2 * i + 2));
  }
  for (size_t i = 2 * blocks.sizes.size() + 1; i < padded.shape().size(); ++i) rest.push_back(static_cast<int64_t>(i));
  order.insert(order.end(), rest.begin(), rest.end());
  regroup(l, padded, order, shape);
}

void batch_to_space(Lowering& l) {
  const Blocks blocks(l);
  Planned view = l.input(0);
  Dims shape = view.shape();
  require(shape[0] % blocks.product == 0, "the batch of {} is not a multiple of {}", shape, blocks.product);
  const size_t n = blocks.sizes.size();
  // The batch becomes [block sizes…, batch].
  int64_t inner = shape[0];
  for (size_t i = 0; i < n; ++i) {
    inner /= blocks.sizes[i];
    view = split_axis(view, i, inner);
  }
  shape[0] /= blocks.product;
  std::vector<int64_t> order{static_cast<int64_t>(n)};
  for (size_t i = 0; i < n; ++i) {
    order.push_back(static_cast<int64_t>(n + 1 + i));
    order.push_back(static_cast<int64_t>(i));
    shape[i + 1] *= blocks.sizes[i];
  }
  for (size_t i = 2 * n + 1; i < view.shape().size(); ++i) order.push_back(static_cast<int64_t>(i));
  const Planned from = permuted(view, order), whole = l.scratch(view.dtype(), shape);
  copy(l, from, reshaped(whole, from.shape()));
  Planned part = whole;
  for (size_t i = 0; i < n; ++i) {
    const int64_t before = blocks.margins[2 * i], left = shape[i + 1] - before - blocks.margins[2 * i + 1];
    require(before >= 0 && left >= 0, "crops of dimension {} leave {} elements", i + 1, left);
    part = narrowed(part, i + 1, before, left);
  }
  give(l, 0, part);
}

/// Where values would be put into rows in ascending order.
void search(Lowering& l, bool right) {
  decline_unordered(l);
  require(l.shape(0).size() == 2 && l.shape(1).size() == 2 && l.shape(0)[0] == l.shape(1)[0],
          "sorted inputs and values must be matrices of equally many rows: {} and {}", l.shape(0), l.shape(1));
  l.call("search_sorted")
      .set("sequence", l.input(0))
      .set("self", l.input(1))
      .set("right", right)
      .set("out", l.make(0, out_type(l), l.shape(1)));
}
void lower_bound(Lowering& l) { search(l, false); }
void upper_bound(Lowering& l) { search(l, true); }

/// Between which boundaries, the node's attribute, the elements lie.
void bucketize(Lowering& l) {
  decline_unordered(l);
  const auto boundaries = std::make_shared<std::vector<double>>(l.attributes().get<std::vector<double>>("boundaries"));
  require(std::is_sorted(boundaries->begin(), boundaries->end()), "the boundaries are not in ascending order");
  const Planned in = l.input(0), out = l.make(0, DType::kInt32, l.shape(0));
  l.run({in}, {out}, [=](Frame& frame) {
    const auto count = static_cast<int64_t>(boundaries->size());
    ops::Call("search_sorted")
        .set("sequence", make_tensor(boundaries->data(), DType::kDouble, {count}))
        .set("self", ops::Operand{frame.tensor(in), {}})
        .set("right", true)
        .set("out", frame.tensor(out))
        .run();
  });
}

NPU_NODE("Bucketize", bucketize);
NPU_NODE("LowerBound", lower_bound);
NPU_NODE("UpperBound", upper_bound);
NPU_NODE("ReverseV2", reverse_v2);
NPU_NODE("ReverseSequence", reverse_sequence);
NPU_NODE("Roll", roll);
NPU_NODE("TopKV2", top_k);
NPU_NODE("InTopK", in_top_k);
NPU_NODE("InTopKV2", in_top_k);
NPU_NODE("DepthToSpace", depth_to_space);
NPU_NODE("SpaceToDepth", space_to_depth);
NPU_NODE("SpaceToBatchND", space_to_batch);
NPU_NODE("BatchToSpaceND", batch_to_space);

}  // namespace
}  // namespace npu::graph
