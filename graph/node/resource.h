// SPDX-License-Identifier: Apache-2.0
// What nodes that work on variables share.
#pragma once

#include <functional>
#include <span>

#include "graph/node/array.h"
#include "graph/run/frame.h"
#include "graph/value/value.h"

namespace npu::graph {

inline Variable& variable_of(Frame& frame, const Planned& handle) {
  return static_cast<Variable&>(*frame.value(handle).object);
}

/// The variable's value, for what was planned of it. Raises 161002 when another thread gave it another shape or type
/// since the plan was chosen.
Value read_as(const Planned& planned, const Variable& variable);

/// Calls `write` with the values of `variables`, in their order, which nobody else reads or writes meanwhile. Locks are
/// taken in the order of addresses, so that nodes on the same variables never wait for each other in a ring. Raises
/// 161002 when a variable is named twice or holds nothing.
void update_together(std::span<Variable* const> variables, const std::function<void(std::span<const Tensor>)>& write);

/// The value of the variable behind input `i`, as a tensor for the operators of this node.
Planned value_of(Lowering& l, size_t i);

}  // namespace npu::graph
