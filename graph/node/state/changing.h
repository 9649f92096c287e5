// SPDX-License-Identifier: Apache-2.0
// Steps that change what plans may count on of an object: the shape of what a stack or an array holds. A plan is made
// for what was so at its start; it ends before the next node that asks, which then sees what is so by then. A loop
// meets such steps in its first turn only.
#pragma once

#include <functional>

#include "graph/plan/lowering.h"
#include "graph/plan/refusal.h"
#include "graph/value/tensor_list.h"

namespace npu::graph {

/// The body of a step that changes what is known.
struct Changing {
  std::function<void(Frame&)> body;
  void operator()(Frame& frame) const { body(frame); }
};

inline bool something_changed(Lowering& l) {
  for (const Step& step : l.steps())
    if (step.body.target<Changing>() != nullptr) return true;
  return false;
}

/// What is known of objects is what it was at the plan's start; otherwise the plan ends before this node.
inline void need_unchanged(Lowering& l) {
  if (something_changed(l)) throw NeedsValue{0};
}

/// Whether an element of this shape adds to what is known.
inline bool changes(const ListType& type, const Dims& shape) { return !type.mixed && type.shape != shape; }

}  // namespace npu::graph
