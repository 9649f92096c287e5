// SPDX-License-Identifier: Apache-2.0
// ONNX's operators about shapes, and those that move elements by numbers known when the plan is made.
#include <algorithm>
#include <numeric>

#include "graph/node/onnx/inputs.h"

namespace npu::graph::onnx {
namespace {

/// The input's elements in another shape: a view where they lie in a row.
void give_as(Lowering& l, const Dims& shape) {
  const Planned in = l.input(0);
  if (contiguous(in)) return l.alias(0, reshaped(in, shape));
  const Planned out = l.make(0, in.dtype(), shape);
  copy(l, in, reshaped(out, in.shape()));
}

void flatten(Lowering& l) {
  const Dims& shape = l.shape(0);
  int64_t axis = int_attribute(l, "axis", 1);
  const auto rank = static_cast<int64_t>(shape.size());
  require(axis >= -rank && axis <= rank, "axis {} lies outside [{}, {}]", axis, -rank, rank);
  if (axis < 0) axis += rank;
  Dims out{1, 1};
  for (int64_t i = 0; i < rank; ++i) out[i < axis ? 0 : 1] *= shape[static_cast<size_t>(i)];
  give_as(l, out);
}

void shape(Lowering& l) {
  const Dims& shape = l.shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = place(int_attribute(l, "start", 0)), end = place(int_attribute(l, "end", rank));
  const std::span<const int64_t> all(shape.data(), shape.size());
  const auto part =
      all.subspan(static_cast<size_t>(std::min(start, end)), static_cast<size_t>(std::max<int64_t>(end - start, 0)));
  l.constant(0, integer_literal(DType::kInt64, {static_cast<int64_t>(part.size())}, part));
}

void size(Lowering& l) {
  const int64_t count = count_of(l.shape(0));
  l.constant(0, integer_literal(DType::kInt64, {}, {&count, 1}));
}

/// Of any rank, with its axes turned round.
void transpose(Lowering& l) {
  std::vector<int64_t> order(l.shape(0).size());
  std::iota(order.rbegin(), order.rend(), 0);
  give(l, 0, permuted(l.input(0), order));
}

/// `axis` brought to the front, or the first axis to its place.
void move_axis(Lowering& l) {
  const Planned in = l.input(0);
  const size_t axis = checked_axis(int_attribute(l, "axis", 0), in.shape().size());
  std::vector<int64_t> order(in.shape().size());
  std::iota(order.begin(), order.end(), 0);
  const auto at = order.begin() + static_cast<int64_t>(axis);
  if (l.attributes().get<bool>("to_front"))
    std::rotate(order.begin(), at, at + 1);
  else
    std::rotate(order.begin(), order.begin() + 1, at + 1);
  give(l, 0, permuted(in, order));
}

void squeeze(Lowering& l) {
  const Dims& shape = l.shape(0);
  std::vector<bool> dropped(shape.size());
  for (const int64_t axis : list(l, "axes", 1).value_or(std::vector<int64_t>{})) {
    const size_t at = checked_axis(axis, shape.size());
    require(shape[at] == 1, "dimension {} of {} is not 1; it cannot be squeezed", axis, shape);
    dropped[at] = true;
  }
  Dims out;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!dropped[i]) out.push_back(shape[i]);
  give_as(l, out);
}

void unsqueeze(Lowering& l) {
  const auto axes = list(l, "axes", 1);
  require(axes.has_value(), "it has no axes");
  const Dims& shape = l.shape(0);
  std::vector<bool> added(shape.size() + axes->size());
  for (const int64_t axis : *axes) {
    const size_t at = checked_axis(axis, added.size());
    require(!added[at], "axis {} is named twice", axis);
    added[at] = true;
  }
  Dims out;
  auto next = shape.begin();
  for (const bool one : added) out.push_back(one ? 1 : *next++);
  give_as(l, out);
}

void expand(Lowering& l) {
  const std::vector<int64_t> sizes = l.integers(at(l, 1));
  give(l, 0, expanded(l.input(0), broadcast(l.shape(0), Dims(sizes))));
}

void tile(Lowering& l) {
  const Planned in = l.input(0);
  const std::vector<int64_t> repeats = l.integers(at(l, 1));
  require(repeats.size() == in.shape().size(), "repeats has {} numbers, the input is {}", repeats.size(), in.shape());
  Dims shape = in.shape();
  for (size_t i = 0; i < repeats.size(); ++i) {
    require(repeats[i] >= 0, "repeats[{}] is {}; it must not be negative", i, repeats[i]);
    shape[i] *= repeats[i];
  }
  if (shape == in.shape()) return give(l, 0, in);
  l.call("repeat").set("self", in).set("repeats", repeats).set("out", l.make(0, in.dtype(), shape));
}

/// Begins, ends, axes and steps: attributes before opset 10, inputs from then on.
struct Cut {
  std::vector<int64_t> starts, ends, axes, steps;
};
Cut cut_of(const Lowering& l) {
  Cut c;
  if (l.attributes().has("starts")) {
    c = {list_attribute(l, "starts"), list_attribute(l, "ends"), list_attribute(l, "axes"), {}};
  } else {
    c.starts = l.integers(at(l, 1)), c.ends = l.integers(at(l, 2));
    if (has(l, 3)) c.axes = l.integers(at(l, 3));
    if (has(l, 4)) c.steps = l.integers(at(l, 4));
  }
  if (c.axes.empty()) {
    c.axes.resize(c.starts.size());
    std::iota(c.axes.begin(), c.axes.end(), 0);
  }
  if (c.steps.empty()) c.steps.resize(c.starts.size(), 1);
  require(c.starts.size() == c.ends.size() && c.starts.size() == c.axes.size() && c.starts.size() == c.steps.size(),
          "it has {} starts, {} ends, {} axes and {} steps; give equally many", c.starts.size(), c.ends.size(),
          c.axes.size(), c.steps.size());
  return c;
}

void slice(Lowering& l) {
  decline_objects(l);
  const Cut c = cut_of(l);
  Planned view = l.input(0);
  for (size_t i = 0; i < c.axes.size(); ++i) {
    const size_t axis = checked_axis(c.axes[i], view.shape().size());
    const int64_t size = view.shape()[axis], step = c.steps[i], stride = view.view.strides[axis];
    require(step != 0, "step {} is 0", i);
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    const auto place = [&](int64_t v, int64_t least) { return std::clamp(v < 0 ? v + size : v, least, high); };
    // Behind the end of what is walked backwards an end far below zero means "to the first".
    const int64_t first =
        std::clamp(c.starts[i] < 0 ? c.starts[i] + size : c.starts[i], int64_t{0}, step > 0 ? size : size - 1);
    const int64_t last = place(c.ends[i], low);
    const int64_t count = size == 0 ? 0 : std::max<int64_t>(0, (last - first + step + (step > 0 ? -1 : 1)) / step);
    view.literal = nullptr;
    if (count > 0) view.view.offset += first * stride;
    view.view.shape[axis] = count;
    view.view.strides[axis] = stride * step;
  }
  give(l, 0, view);
}

/// Sizes: an attribute before opset 13, then an input; none means equal parts, of which the last may be smaller.
std::vector<int64_t> split_sizes(const Lowering& l, int64_t size) {
  if (const auto sizes = list(l, "split", 1)) return *sizes;
  const auto parts = static_cast<int64_t>(l.node().outputs.size());
  const int64_t each = (size + parts - 1) / parts;
  std::vector<int64_t> sizes(static_cast<size_t>(parts), each);
  sizes.back() = size - each * (parts - 1);
  return sizes;
}

void split(Lowering& l) {
  decline_objects(l);
  const Planned in = l.input(0);
  const size_t axis = checked_axis(int_attribute(l, "axis", 0), in.shape().size());
  const std::vector<int64_t> sizes = split_sizes(l, in.shape()[axis]);
  const int64_t sum = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  require(sizes.size() == l.node().outputs.size() && sum == in.shape()[axis] && std::ranges::min(sizes) >= 0,
          "the sizes {} do not divide {} along axis {} among {} outputs", Dims(sizes), in.shape(), axis,
          l.node().outputs.size());
  int64_t begin = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    give(l, i, narrowed(in, axis, begin, sizes[i]));
    begin += sizes[i];
  }
}

/// Before and after, by axis: an attribute before opset 11, then an input; those of the axes named since opset 18.
struct Borders {
  std::vector<int64_t> before, after;
};
Borders borders(const Lowering& l) {
  const size_t rank = l.shape(0).size();
  const auto pads = list(l, "pads", 1);
  require(pads.has_value(), "it has no pads");
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (has(l, 3)) axes = l.integers(at(l, 3));
  require(pads->size() == 2 * axes.size(), "pads has {} numbers; it needs two for each of {} axes", pads->size(),
          axes.size());
  Borders b{std::vector<int64_t>(rank), std::vector<int64_t>(rank)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = checked_axis(axes[i], rank);
    b.before[axis] = (*pads)[i], b.after[axis] = (*pads)[i + axes.size()];
  }
  return b;
}

/// Which element of an axis of `size` stands at `at` of an endless one.
int64_t mirrored(int64_t at, int64_t size, const std::string& mode) {
  if (mode == "edge") return std::clamp<int64_t>(at, 0, size - 1);
  if (mode == "wrap") return ((at % size) + size) % size;
  if (size == 1) return 0;
  const int64_t turn = 2 * (size - 1), place = ((at % turn) + turn) % turn;
  return place < size ? place : turn - place;
}

/// Axis by axis, each element taken from its place by number.
void pad_from_itself(Lowering& l, const Borders& b, const std::string& mode) {
  Planned now = l.input(0);
  for (size_t axis = 0; axis < b.before.size(); ++axis) {
    const int64_t size = now.shape()[axis], count = size + b.before[axis] + b.after[axis];
    if (count == size && b.before[axis] == 0) continue;
    require(size > 0 && count >= 0, "axis {} of {} cannot be padded by {} and {}", axis, now.shape(), b.before[axis],
            b.after[axis]);
    std::vector<int64_t> places;
    for (int64_t i = 0; i < count; ++i) places.push_back(mirrored(i - b.before[axis], size, mode));
    Dims shape = now.shape();
    shape[axis] = count;
    const Planned next = l.scratch(now.dtype(), shape);
    l.call("index_select")
        .set("self", now)
        .set("dim", static_cast<int64_t>(axis))
        .set("index", given_integers(l, places))
        .set("out", next);
    now = next;
  }
  const Planned out = l.make(0, now.dtype(), now.shape());
  copy(l, now, out);
}

/// Negative borders cut off.
void pad_with_number(Lowering& l, const Borders& b) {
  const Planned in = l.input(0);
  Dims shape = in.shape();
  Planned from = in;
  for (size_t i = 0; i < shape.size(); ++i) shape[i] += b.before[i] + b.after[i];
  for (const int64_t size : shape) require(size >= 0, "pads cut more from {} than there is", in.shape());
  const Planned out = l.make(0, in.dtype(), shape);
  if (has(l, 2))
    copy(l, expanded(restrided(l.input(at(l, 2)), {}, {}), shape), out);
  else
    fill(l, out, Scalar(float_attribute(l, "value", 0)));
  Planned to = out;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t cut = std::max<int64_t>(-b.before[i], 0), end = std::max<int64_t>(-b.after[i], 0);
    const int64_t size = std::max<int64_t>(in.shape()[i] - cut - end, 0);
    from = narrowed(from, i, cut, size), to = narrowed(to, i, std::max<int64_t>(b.before[i], 0), size);
  }
  if (from.view.count() > 0) copy(l, from, to);
}

void pad(Lowering& l) {
  decline_objects(l);
  const std::string mode = text_attribute(l, "mode", "constant");
  const Borders b = borders(l);
  if (mode == "constant") return pad_with_number(l, b);
  require(mode == "reflect" || mode == "edge" || mode == "wrap",
          "mode is '{}'; constant, reflect, edge and wrap are known", mode);
  pad_from_itself(l, b, mode);
}

/// [n, c·b·b, h, w] as [n, c, h·b, w·b].
void depth_to_space(Lowering& l) {
  const Dims s = l.shape(0);
  const int64_t b = l.attributes().get<int64_t>("blocksize");
  require(s.size() == 4 && b > 0 && s[1] % (b * b) == 0, "{} has no channels for blocks of {}", s, b);
  const int64_t c = s[1] / (b * b);
  const Planned in = in_rows(l, l.input(0)), out = l.make(0, in.dtype(), {s[0], c, s[2] * b, s[3] * b});
  const bool column_first = text_attribute(l, "mode", "DCR") == "CRD";
  const Planned blocks = column_first ? permuted(reshaped(in, {s[0], c, b, b, s[2], s[3]}), {0, 1, 4, 2, 5, 3})
                                      : permuted(reshaped(in, {s[0], b, b, c, s[2], s[3]}), {0, 3, 4, 1, 5, 2});
  copy(l, blocks, reshaped(out, {s[0], c, s[2], b, s[3], b}));
}

void space_to_depth(Lowering& l) {
  const Dims s = l.shape(0);
  const int64_t b = l.attributes().get<int64_t>("blocksize");
  require(s.size() == 4 && b > 0 && s[2] % b == 0 && s[3] % b == 0, "{} cannot be cut into blocks of {}", s, b);
  const Planned in = in_rows(l, l.input(0)), out = l.make(0, in.dtype(), {s[0], s[1] * b * b, s[2] / b, s[3] / b});
  const Planned blocks = permuted(reshaped(in, {s[0], s[1], s[2] / b, b, s[3] / b, b}), {0, 3, 5, 1, 2, 4});
  copy(l, blocks, reshaped(out, {s[0], b, b, s[1], s[2] / b, s[3] / b}));
}

void triangle(Lowering& l) {
  const bool upper = int_attribute(l, "upper", 1) != 0;
  const int64_t diagonal = has(l, 1) ? integer(l, at(l, 1)) : 0;
  l.call(upper ? "triu" : "tril")
      .set("self", l.input(0))
      .set("diagonal", diagonal)
      .set("out", l.make(0, l.dtype(0), l.shape(0)));
}

/// Ones on the k-th diagonal.
void eye_like(Lowering& l) {
  const Dims shape = l.shape(0);
  require(shape.size() == 2, "the input is {}; it must be a matrix", shape);
  const int64_t k = int_attribute(l, "k", 0), rows = shape[0], columns = shape[1];
  const Planned out = l.make(0, out_type(l), shape);
  fill(l, out, Scalar(0));
  const int64_t row = std::max<int64_t>(-k, 0), column = std::max<int64_t>(k, 0);
  const int64_t count = std::min(rows - row, columns - column);
  if (count <= 0) return;
  Planned diagonal = restrided(out, {count}, {columns + 1});
  diagonal.view.offset += row * columns + column;
  fill(l, diagonal, Scalar(1));
}

NPU_NODE("ai.onnx::Flatten", flatten);
NPU_NODE("ai.onnx::Shape", shape);
NPU_NODE("ai.onnx::Size", size);
NPU_NODE("ai.onnx::Transpose", transpose);
NPU_NODE("ai.onnx::MoveAxis", move_axis);
NPU_NODE("ai.onnx::Squeeze", squeeze);
NPU_NODE("ai.onnx::Unsqueeze", unsqueeze);
NPU_NODE("ai.onnx::Expand", expand);
NPU_NODE("ai.onnx::Tile", tile);
NPU_NODE("ai.onnx::Slice", slice);
NPU_NODE("ai.onnx::Split", split);
NPU_NODE("ai.onnx::Pad", pad);
NPU_NODE("ai.onnx::DepthToSpace", depth_to_space);
NPU_NODE("ai.onnx::SpaceToDepth", space_to_depth);
NPU_NODE("ai.onnx::Trilu", triangle);
NPU_NODE("ai.onnx::EyeLike", eye_like);

}  // namespace
}  // namespace npu::graph::onnx
