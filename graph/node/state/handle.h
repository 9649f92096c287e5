// SPDX-License-Identifier: Apache-2.0
// The stack or the array that the first input of a node is a handle of.
#pragma once

#include <string_view>

#include "graph/plan/lowering.h"
#include "graph/run/frame.h"
#include "graph/value/stack.h"
#include "graph/value/tensor_array.h"

namespace npu::graph {

/// Raises 161002 for another object than the `name` that the node works on.
[[noreturn]] inline void refuse_handle(std::string_view name, const Object& object) {
  fail(Code::kNnInvalidParam, "Trying to access resource using the wrong type. Expected {}, got the handle of {}", name,
       object.traits());
}

/// The object of type T as the plan sees it. Raises 161002 for another resource of the engine; the client's are
/// declined.
template <class T>
const T& planned_handle(const Lowering& l, std::string_view name) {
  const Object* object = l.object_of(0);
  if (const auto* found = dynamic_cast<const T*>(object)) return *found;
  const bool ours = dynamic_cast<const Variable*>(object) != nullptr || dynamic_cast<const Stack*>(object) != nullptr ||
                    dynamic_cast<const TensorArray*>(object) != nullptr;
  if (ours) refuse_handle(name, *object);
  l.decline("its resource is the client's");
}

/// The same in the run.
template <class T>
T& object_behind(Frame& frame, const Planned& handle, std::string_view name) {
  Object& object = *frame.value(handle).object;
  if (auto* found = dynamic_cast<T*>(&object)) return *found;
  refuse_handle(name, object);
}

}  // namespace npu::graph
