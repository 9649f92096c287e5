// SPDX-License-Identifier: Apache-2.0
// Steps on a device in saturation mode: what they compute is brought into range, and overflows are told with the node.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/plan/plan.h"
#include "graph/value/value.h"
#include "ops/runner/runner.h"

namespace npu::graph {

/// A step of a plan, for who tells of an overflow.
struct StepPlace {
  const Plan& plan;
  const Step& step;
  static void describe(const void* place, device::TaskName& name);
};

/// The client's function that a node is in; "" where there is none.
std::string function_of(const Plan& plan, const Node& node);

/// Results that the client computed from floating numbers: saturated copies take the place of those that overflow. Does
/// nothing outside a scope. Nodes without such inputs bring data (an iterator) and are left alone.
void saturate_from_host(int device, std::span<const Value> inputs, std::vector<Value>& results);

}  // namespace npu::graph
