// SPDX-License-Identifier: Apache-2.0
// A run in the eyes of observers: node by node, in the order and with the results of any other run.
#include "graph/ir/control_flow.h"
#include "graph/ir/ir_type.h"
#include "graph/run/deadline.h"
#include "graph/run/frame.h"
#include "graph/run/run_scope.h"
#include "graph/run/saturation.h"
#include "ops/runner/inside.h"
#include "ops/runner/observer.h"

namespace npu::graph {

/// A variable is shown as its value; strings and the client's objects are not shown.
void Frame::see(const Planned& planned, std::vector<ops::Seen>& seen, std::vector<Value>& held) const {
  if (planned.slot < 0) return;
  if (planned.type.is_tensor()) {
    const Slot& slot = plan_->slots[static_cast<size_t>(planned.slot)];
    const Value& late = late_[static_cast<size_t>(planned.slot)];
    if (late.object || (slot.kind == SlotKind::kConstant && !slot.literal->bytes)) return;
    const Tensor found = tensor(planned);
    if (found.defined() && (found.data != nullptr || found.count() == 0)) seen.push_back({"", found});
    return;
  }
  const auto* variable = dynamic_cast<const Variable*>(late_[static_cast<size_t>(planned.slot)].object.get());
  if (variable == nullptr || !variable->initialized() || variable->holds_object()) return;
  held.push_back(variable->read());
  seen.push_back({"", held.back().tensor});
}

void Frame::see_results(const PlannedNode& planned, std::vector<ops::Seen>& seen, std::vector<Value>& held) const {
  for (const Planned& output : planned.outputs) see(output, seen, held);
  // A node without outputs is there for what it does to its variables.
  if (!planned.outputs.empty() && planned.node->kind != Kind::kVariableUpdate) return;
  for (const Planned& input : planned.inputs)
    if (!input.type.is_tensor()) see(input, seen, held);
}

/// What the host computes counts, as its operators tell nothing of themselves.
bool Frame::computes(const PlannedNode& planned) const {
  for (int32_t i = planned.first; i < planned.end; ++i)
    if (const auto& op = operators_[static_cast<size_t>(i)]; op == nullptr || ops::may_overflow(*op)) return true;
  return false;
}

ops::Parameters Frame::parameters(const PlannedNode& planned) const {
  ops::Parameters all;
  for (int32_t i = planned.first; i < planned.end; ++i)
    if (const auto& op = operators_[static_cast<size_t>(i)])
      for (auto& one : ops::parameters_of(*op)) all.push_back(std::move(one));
  return all;
}

void Frame::run_node_observed(const PlannedNode& planned, uint64_t number) {
  ops::Execution execution;
  // As the graph's text has it: with the calls that lead to the node, and a fused one not as one of its parts.
  execution.name = {function_of(*plan_, *planned.node), planned.node->name, std::string(ir_type(planned.node->op))};
  execution.origins = planned.origins;
  execution.device = device_;
  execution.number = number;
  if (const RunScope* scope = RunScope::current()) execution.graph = scope->graph(), execution.step = scope->step();
  std::vector<Value> held;
  for (const Planned& input : planned.inputs) see(input, execution.inputs, held);
  see_results(planned, execution.outputs, held);
  if (planned.node->parts) execution.parts = [&] { return parts_of(planned); };
  ops::Observation observation(execution);
  const bool inside = ops::observed_inside();
  held.clear();  // a variable that is held would be copied when it is written
  try {
    const ops::InsideScope scope(inside ? &execution : nullptr);
    for (int32_t i = planned.first; i < planned.end; ++i) run_allocated(static_cast<size_t>(i));
  } catch (const Error& error) {
    execution.parameters = parameters(planned);
    observation.failed(execution, error);
    throw;
  }
  execution.computes = computes(planned);
  execution.outputs.clear();
  see_results(planned, execution.outputs, held);
  observation.finished(execution);
  held.clear();
  // Only now: observers have seen what nobody else asks for.
  for (int32_t i = planned.first; i < planned.end; ++i)
    for (const SlotId slot : plan_->steps[static_cast<size_t>(i)].done) release(slot);
}

void Frame::run_steps_observed() {
  size_t next = 0;
  for (size_t n = 0; n < plan_->nodes.size(); ++n) {
    const PlannedNode& planned = plan_->nodes[n];
    while (std::cmp_less(next, planned.first)) run_alone_limited(next++);
    run_node_observed(planned, n + 1);
    next = static_cast<size_t>(planned.end);
    if (const Deadline* deadline = Deadline::current()) deadline->check(device_, plan_->steps[next - 1]);
  }
  while (next < plan_->steps.size()) run_alone_limited(next++);
}

}  // namespace npu::graph
