// SPDX-License-Identifier: Apache-2.0
// Views, constants and fills that the kinds of node about arrays are made of.
#pragma once

#include <span>
#include <vector>

#include "graph/plan/lowering.h"

namespace npu::graph {

/// Positions [begin, begin + size) of `axis`.
Planned narrowed(Planned view, size_t axis, int64_t begin, int64_t size);
/// `axis` walked from its last position to its first. Only for what is written: a kernel may copy what it reads as if
/// strides were not negative.
Planned reversed(Planned view, size_t axis);
/// Without `axis`, at its position `at`.
Planned without_axis(Planned view, size_t axis, int64_t at);
/// Repeated along new and one-element axes; raises 161002 when it does not broadcast to `shape`.
Planned expanded(Planned view, const Dims& shape);
/// `view` with other sizes and strides over the same first element.
Planned restrided(Planned view, const Dims& shape, const Dims& strides);

/// Output `i` is `view`; where the elements of the node's inputs are known and `view` does not lie row by row, a copy
/// that does, so that its elements are known as well.
void give(Lowering& l, size_t i, const Planned& view);
/// The input as a tensor that lies row by row: itself, or a copy.
Planned in_rows(Lowering& l, const Planned& view);

/// to = from, broadcast and converted.
void copy(Lowering& l, const Planned& from, const Planned& to);
void fill(Lowering& l, const Planned& to, const Scalar& value);

/// The input's only element; the plan is made for it.
Scalar number(const Lowering& l, size_t i);
/// The input's only element, an integer; the plan is made for it.
int64_t integer(const Lowering& l, size_t i);
/// An axis among `rank` given as the input's only element, negative ones counted from the end.
size_t axis_input(const Lowering& l, size_t i, size_t rank);
size_t checked_axis(int64_t axis, size_t rank);

/// A tensor of int32 or int64.
Literal integer_literal(DType dtype, const Dims& shape, std::span<const int64_t> values);
/// The type that the node declares for output `i`.
DType out_type(const Lowering& l, size_t i = 0);
/// Leaves nodes about lists and other objects to whoever knows them.
void decline_objects(const Lowering& l);
/// Leaves nodes that put numbers in order to the client where the kernels' numbers (doubles, int64) have none for them.
void decline_unordered(const Lowering& l);

}  // namespace npu::graph
