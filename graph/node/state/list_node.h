// SPDX-License-Identifier: Apache-2.0
// What the nodes of lists share: the list as the plan knows it, the list in the run, and shapes of elements as inputs.
#pragma once

#include <string_view>

#include "graph/plan/lowering.h"
#include "graph/run/frame.h"
#include "graph/value/tensor_list.h"

namespace npu::graph {

/// The type of the list that is input `i`. One of the client's is declined. Raises 161002 for an optional.
const ListType& list_type(const Lowering& l, size_t i);
/// The same. Raises 161002 where the node's element_dtype is another type than the list's.
const ListType& list_of_node_type(const Lowering& l, size_t i);

/// Input `i`, a number. Raises 161002 for another shape: `refusal` and the shape.
const Planned& scalar_input(const Lowering& l, size_t i, std::string_view refusal);

/// Input `i`, the shape of an element: sizes with -1 for those unknown, or -1 alone. Raises 161002, in the name of
/// `op`, for what is no shape.
PartialShape shape_input(const Lowering& l, size_t i, std::string_view op);
/// The same in the run.
PartialShape shape_input(Frame& frame, const Planned& sizes, std::string_view op);
/// The same for the plan of a node that reads elements: unknown where the list alone determines the shape, so that the
/// plan need not end before an input that only the run brings.
PartialShape planned_shape(const Lowering& l, size_t i, const ListType& type);

const TensorList& read_list(Frame& frame, const Planned& list);

/// Raises 161002 unless `shape`, which the run brings, is the one that the plan was made for.
void check_planned(const Dims& shape, const Planned& planned);

}  // namespace npu::graph
