// SPDX-License-Identifier: Apache-2.0
// Tensors of repeated or counted numbers, and shapes computed from shapes.
#include <algorithm>
#include <cmath>

#include "graph/ir/literal.h"
#include "graph/node/array.h"
#include "graph/node/state/optional.h"
#include "graph/plan/refusal.h"

namespace npu::graph {
namespace {

/// Counted up to this length while planning, with the client's own rounding; longer ones in the run.
constexpr int64_t kLongestKnown = 1 << 14;

void fill_shape(Lowering& l) {
  decline_objects(l);
  const std::vector<int64_t> sizes = l.integers(0);
  require(l.input(1).view.count() == 1, "value must be a scalar, it is {}", l.input(1).view);
  for (const int64_t size : sizes) require(size >= 0, "a size of {} is asked for", size);
  give(l, 0, expanded(restrided(l.input(1), {}, {}), Dims(sizes)));
}

void like(Lowering& l, int value) {
  decline_objects(l);
  fill(l, l.make(0, l.dtype(0), l.shape(0)), Scalar(value));
}
void zeros_like(Lowering& l) {
  if (!lower_zeros_of_optional(l)) like(l, 0);
}
void ones_like(Lowering& l) { like(l, 1); }

void broadcast_to(Lowering& l) {
  decline_objects(l);
  give(l, 0, expanded(l.input(0), Dims(l.integers(1))));
}

/// Nobody may count on what is in it; zeros are as good as anything.
void empty(Lowering& l) {
  if (is_object(l.node().outputs[0].type)) l.decline("it is about values that only the client understands");
  fill(l, l.make(0, out_type(l), Dims(l.integers(0))), Scalar(0));
}

/// The input, which must have the shape that the node tells.
void ensure_shape(Lowering& l) {
  decline_objects(l);
  const PartialShape& wanted = l.attributes().get<PartialShape>("shape");
  const Dims& shape = l.shape(0);
  bool fits = !wanted.rank_known() || wanted.dims->size() == shape.size();
  for (size_t i = 0; fits && wanted.rank_known() && i < shape.size(); ++i)
    fits = (*wanted.dims)[i] == kUnknownDim || (*wanted.dims)[i] == shape[i];
  require(fits, "Shape of tensor {} is not compatible with expected shape {}.", shape, to_string(wanted));
  l.alias(0, l.input(0));
}

void tile(Lowering& l) {
  decline_objects(l);
  const Planned in = l.input(0);
  const std::vector<int64_t> repeats = l.integers(1);
  require(repeats.size() == in.shape().size(), "multiples has {} numbers, the input is {}", repeats.size(), in.shape());
  Dims shape = in.shape();
  for (size_t i = 0; i < repeats.size(); ++i) {
    require(repeats[i] >= 0, "multiples[{}] is {}; it must not be negative", i, repeats[i]);
    shape[i] *= repeats[i];
  }
  if (shape == in.shape()) return give(l, 0, in);
  l.call("repeat").set("self", in).set("repeats", repeats).set("out", l.make(0, in.dtype(), shape));
}

template <class T>
int64_t range_count(T start, T limit, T delta) {
  require(delta != T(0), "Requires delta != 0: {}", delta);
  require(delta > T(0) ? start <= limit : start >= limit, "Requires start {} limit when delta {} 0: {}/{}",
          delta > T(0) ? "<=" : ">=", delta > T(0) ? ">" : "<", start, limit);
  if constexpr (std::is_integral_v<T>)
    return (std::abs(limit - start) + std::abs(delta) - 1) / std::abs(delta);
  else
    return static_cast<int64_t>(std::ceil(std::abs((limit - start) / delta)));
}

/// Numbers one after the other, each the one before plus delta, in T: the client's own rounding.
template <class T>
void range_of(Lowering& l, T start, T limit, T delta) {
  const int64_t count = range_count(start, limit, delta);
  if (count > kLongestKnown) {
    l.call("arange")
        .set("start", number(l, 0))
        .set("end", number(l, 1))
        .set("step", number(l, 2))
        .set("out", l.make(0, l.dtype(0), {count}));
    return;
  }
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i, start += delta) values.push_back(start);
  l.constant(0, literal_of(values));
}

void range(Lowering& l) {
  const Scalar start = number(l, 0), limit = number(l, 1), delta = number(l, 2);
  visit_dtype(l.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>)
      range_of<T>(l, static_cast<T>(start.to_int()), static_cast<T>(limit.to_int()), static_cast<T>(delta.to_int()));
    else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      range_of<T>(l, static_cast<T>(start.to_double()), static_cast<T>(limit.to_double()),
                  static_cast<T>(delta.to_double()));
    else
      l.decline("ranges of this type are left to the client");
  });
}

void lin_space(Lowering& l) {
  const int64_t count = integer(l, 2);
  const Scalar start = number(l, 0), stop = number(l, 1);
  require(count > 0, "Requires num > 0: {}", count);
  visit_dtype(l.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      const T first = static_cast<T>(start.to_double()), last = static_cast<T>(stop.to_double());
      std::vector<T> values{first};
      const T step = (last - first) / static_cast<T>(std::max<int64_t>(count - 1, 1));
      for (int64_t i = 1; i < count; ++i) values.push_back(i + 1 < count ? first + step * static_cast<T>(i) : last);
      l.constant(0, literal_of(values));
    } else {
      l.decline("linear spaces of this type are left to the client");
    }
  });
}

void one_hot(Lowering& l) {
  const Planned indices = l.input(0);
  const int64_t depth = integer(l, 1), axis = l.attributes().get_or<int64_t>("axis", -1);
  require(depth >= 0, "depth must be non-negative, got: {}", depth);
  const size_t rank = indices.shape().size(), at = axis == -1 ? rank : static_cast<size_t>(axis);
  require(at <= rank, "axis {} lies beyond the rank {} of indices", axis, rank);
  Dims shape = indices.shape(), column = indices.shape(), steps(rank + 1, 1);
  shape.insert(at, depth), column.insert(at, 1), steps[at] = depth;
  Dims strides = indices.view.strides;
  strides.insert(at, 0);
  const Planned numbers = l.scratch(indices.dtype(), {depth}), equal = l.scratch(DType::kBool, shape);
  l.call("arange").set("start", Scalar(0)).set("end", Scalar(depth)).set("step", Scalar(1)).set("out", numbers);
  l.call("eq")
      .set("self", restrided(indices, column, strides))
      .set("other", reshaped(numbers, steps))
      .set("out", equal);
  l.call("where")
      .set("condition", equal)
      .set("self", l.input(2))
      .set("other", l.input(3))
      .set("out", l.make(0, l.dtype(2), shape));
}

void broadcast_args(Lowering& l) {
  const Dims shape = broadcast(Dims(l.integers(0)), Dims(l.integers(1)));
  l.constant(0, integer_literal(l.dtype(0), {static_cast<int64_t>(shape.size())}, shape));
}

/// The axes over which the gradient of each operand of a broadcast is summed.
void broadcast_gradient_args(Lowering& l) {
  std::vector<int64_t> shapes[2] = {l.integers(0), l.integers(1)}, axes[2];
  const bool same = shapes[0] == shapes[1];
  const size_t rank = std::max(shapes[0].size(), shapes[1].size());
  for (auto& shape : shapes) shape.insert(shape.begin(), rank - shape.size(), 1);
  for (size_t i = 0; i < rank && !same; ++i) {
    const int64_t a = shapes[0][i], b = shapes[1][i];
    require(a == b || a == 1 || b == 1, "Incompatible shapes: {} vs. {}", Dims(shapes[0]), Dims(shapes[1]));
    if (a == 1) axes[0].push_back(static_cast<int64_t>(i));
    if (b == 1) axes[1].push_back(static_cast<int64_t>(i));
  }
  for (size_t k = 0; k < 2; ++k)
    l.constant(k, integer_literal(l.dtype(0), {static_cast<int64_t>(axes[k].size())}, axes[k]));
}

void invert_permutation(Lowering& l) {
  const std::vector<int64_t> order = l.integers(0);
  std::vector<int64_t> inverse(order.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) {
    require(order[i] >= 0 && std::cmp_less(order[i], order.size()), "{} is not between 0 and {}", order[i],
            order.size());
    require(inverse[static_cast<size_t>(order[i])] < 0, "{} is duplicated in the input.", order[i]);
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  l.constant(0, integer_literal(l.dtype(0), l.shape(0), inverse));
}

NPU_NODE(Kind::kFill, fill_shape);
NPU_NODE("ZerosLike", zeros_like);
NPU_NODE("OnesLike", ones_like);
NPU_NODE("Empty", empty);
NPU_NODE("EnsureShape", ensure_shape);
NPU_NODE("BroadcastTo", broadcast_to);
NPU_NODE("Tile", tile);
NPU_NODE("Range", range);
NPU_NODE("LinSpace", lin_space);
NPU_NODE("OneHot", one_hot);
NPU_NODE("BroadcastArgs", broadcast_args);
NPU_NODE(Kind::kBroadcastGradientArgs, broadcast_gradient_args);
NPU_NODE("InvertPermutation", invert_permutation);

}  // namespace
}  // namespace npu::graph
