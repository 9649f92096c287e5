// SPDX-License-Identifier: Apache-2.0
// Nodes that look at the same memory in another way, and nodes about shapes, which are constants once shapes are known.
#include <numeric>

#include "graph/node/array.h"

namespace npu::graph {
namespace {

void identity(Lowering& l) { l.alias(0, l.input(0)); }

void identity_n(Lowering& l) {
  for (size_t i = 0; i < l.input_count(); ++i) l.alias(i, l.input(i));
}

void nothing(Lowering&) {}

/// The input with other sizes: a view where its elements lie in a row, else a copy.
void reshape_to(Lowering& l, const Dims& shape) {
  const Planned in = l.input(0);
  require(count_of(shape) == in.view.count(), "{} elements cannot have the shape {}", in.view.count(), shape);
  if (contiguous(in)) return l.alias(0, reshaped(in, shape));
  const Planned out = l.make(0, in.dtype(), shape);
  l.call("copy").set("self", in).set("out", reshaped(out, in.shape()));
}

/// The size that -1 stands for. As in TensorFlow sizes of 0 leave the product on both sides: [2, 0] seen as [-1, 0] is
/// [2, 0].
int64_t remaining_size(const Dims& from, const Dims& others) {
  const bool has_zero = std::find(others.begin(), others.end(), 0) != others.end();
  const auto product = [&](const Dims& sizes) {
    Dims counted;
    for (const int64_t size : sizes)
      if (size != 0 || !has_zero) counted.push_back(size);
    return count_of(counted);
  };
  const int64_t all = product(from), known = product(others);
  const bool left_out = has_zero && std::find(from.begin(), from.end(), 0) != from.end();
  require(left_out || all % known == 0, "{} elements cannot be spread over {}", all, others);
  return all / known;
}

void reshape(Lowering& l) {
  const Dims& from = l.shape(0);  // asked first: what the client keeps, such as strings, is left to it
  const bool zero_copies = l.attributes().get_or<bool>("zero_copies", false);
  Dims shape;
  int64_t open = -1;
  for (int64_t size : l.integers(1)) {
    require(size >= -1, "a size of {} is asked for", size);
    if (size == 0 && zero_copies) {
      require(shape.size() < from.size(), "size {} is to be that of {}, which has none there", shape.size(), from);
      size = from[shape.size()];
    }
    if (size == -1) {
      require(open < 0, "two sizes are -1; only one can follow from the others");
      open = static_cast<int64_t>(shape.size());
    }
    shape.push_back(size);
  }
  if (open >= 0) {
    Dims others = shape;
    others.erase(static_cast<size_t>(open));
    shape[static_cast<size_t>(open)] = remaining_size(from, others);
  }
  reshape_to(l, shape);
}

void expand_dims(Lowering& l) {
  Dims shape = l.shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const std::vector<int64_t> axis = l.integers(1);
  require(axis.size() == 1 && axis[0] >= -rank - 1 && axis[0] <= rank, "an axis lies outside [{}, {}]", -rank - 1,
          rank);
  shape.insert(static_cast<size_t>(axis[0] < 0 ? axis[0] + rank + 1 : axis[0]), 1);
  reshape_to(l, shape);
}

void squeeze(Lowering& l) {
  std::vector<bool> dropped(l.shape(0).size());
  const auto dims = l.attributes().get_or<std::vector<int64_t>>("squeeze_dims", {});
  for (const int64_t dim : dims) {
    const size_t at = wrap_dim(dim, dropped.size());
    require(l.shape(0)[at] == 1, "dimension {} of {} is not 1; it cannot be squeezed", dim, l.shape(0));
    dropped[at] = true;
  }
  Dims shape;
  for (size_t i = 0; i < dropped.size(); ++i)
    if (!(dims.empty() ? l.shape(0)[i] == 1 : dropped[i])) shape.push_back(l.shape(0)[i]);
  reshape_to(l, shape);
}

void transpose(Lowering& l) {
  const std::vector<int64_t> order = l.integers(1);
  require(order.size() == l.shape(0).size(), "perm has {} axes for a tensor of {}", order.size(), l.shape(0).size());
  std::vector<bool> seen(order.size());
  for (const int64_t axis : order) {
    require(axis >= 0 && std::cmp_less(axis, order.size()) && !seen[static_cast<size_t>(axis)],
            "perm names axis {} twice or beyond the rank {}", axis, order.size());
    seen[static_cast<size_t>(axis)] = true;
  }
  l.alias(0, permuted(l.input(0), order));
}

void shape_n(Lowering& l) {
  for (size_t i = 0; i < l.input_count(); ++i) {
    const Dims& shape = l.shape(i);
    l.constant(i, integer_literal(out_type(l), {static_cast<int64_t>(shape.size())}, shape));
  }
}

void size(Lowering& l) {
  const int64_t count = count_of(l.shape(0));
  l.constant(0, integer_literal(out_type(l), {}, {&count, 1}));
}

void rank(Lowering& l) {
  const auto count = static_cast<int64_t>(l.shape(0).size());
  l.constant(0, integer_literal(out_type(l), {}, {&count, 1}));
}

void cast(Lowering& l) {
  const Planned in = l.input(0);
  if (in.dtype() == out_type(l)) return l.alias(0, in);
  l.call("copy").set("self", in).set("out", l.make(0, out_type(l), in.shape()));
}

NPU_NODE(Kind::kIdentity, identity, {}, Part::kSame);
NPU_NODE("StopGradient", identity);
NPU_NODE("PreventGradient", identity);
NPU_NODE("Snapshot", identity);
NPU_NODE("PlaceholderWithDefault", identity);
NPU_NODE("IdentityN", identity_n);
NPU_NODE("NoOp", nothing);
NPU_NODE("ControlTrigger", nothing);
NPU_NODE("DisableCopyOnRead", nothing);
NPU_NODE(Kind::kReshape, reshape);
NPU_NODE(Kind::kExpandDims, expand_dims);
NPU_NODE(Kind::kSqueeze, squeeze);
NPU_NODE("Transpose", transpose);
NPU_NODE(Kind::kShape, shape_n);
NPU_NODE("ShapeN", shape_n);
NPU_NODE("Size", size);
NPU_NODE("Rank", rank);
NPU_NODE(Kind::kCast, cast, {}, Part::kCast);

}  // namespace
}  // namespace npu::graph
