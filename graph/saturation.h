// SPDX-License-Identifier: Apache-2.0
// Steps on a device in saturation mode: what they compute is brought into range, and overflows are told with the node.
#pragma once

#include <span>
#include <vector>

#include "graph/plan.h"
#include "graph/value.h"
#include "ops/overflow.h"

namespace npu::graph {

/// A step of a plan, for who tells of an overflow.
struct StepPlace {
  const Plan& plan;
  const Step& step;
  static void describe(const void* place, device::Overflow& overflow);
};

/// Calls `run`, which runs the step, and saturates what its operator writes (null: what the body's operators write).
template <class Run>
void saturated(const Plan& plan, const Step& step, int device, ops::Operator* op, Run&& run) {
  const StepPlace place{plan, step};
  const ops::OverflowScope scope(device, StepPlace::describe, &place);
  run();
  if (op != nullptr) ops::saturate_results(*op);
}

/// Results that the client computed from floating numbers: saturated copies take the place of those that overflow. Does
/// nothing outside a scope. Nodes without such inputs bring data (an iterator) and are left alone.
void saturate_from_host(int device, std::span<const Value> inputs, std::vector<Value>& results);

}  // namespace npu::graph
