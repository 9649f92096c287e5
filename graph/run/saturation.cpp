// SPDX-License-Identifier: Apache-2.0
#include "graph/run/saturation.h"

#include <algorithm>

#include "graph/ir/ir_type.h"

namespace npu::graph {

std::string function_of(const Plan& plan, const Node& node) {
  // Inlining leaves the functions around a node with it; the innermost has the node under the client's name.
  const std::string& name = node.functions.empty() ? plan.function : node.functions.back();
  return name.find(' ') == std::string::npos ? name : "";  // with a blank it was made for an operator run alone
}

void StepPlace::describe(const void* place, device::TaskName& name) {
  const auto& [plan, step] = *static_cast<const StepPlace*>(place);
  const Node& node = *step.node;
  name.function = function_of(plan, node);
  name.node = node.client_name.empty() ? node.name : node.client_name;
  name.type = ir_type(node.op);
}

void saturate_from_host(int device, std::span<const Value> inputs, std::vector<Value>& results) {
  const ops::OverflowScope* const scope = ops::OverflowScope::current();
  if (scope == nullptr) return;
  const bool computed = std::any_of(inputs.begin(), inputs.end(), [](const Value& value) {
    return !value.object && is_floating(value.tensor.dtype);
  });
  if (!computed) return;
  for (size_t i = 0; i < results.size(); ++i) {
    Value& result = results[i];
    if (result.object || !ops::has_overflow(result.tensor)) continue;
    scope->found(result.tensor, fmt::format("{}", i));
    result = copy_of(device, result.tensor);  // the client's memory never changes
    ops::saturate(result.tensor);
  }
}

}  // namespace npu::graph
