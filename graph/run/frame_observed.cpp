// SPDX-License-Identifier: Apache-2.0
// A run in the eyes of observers: node by node, in the order and with the results of any other run.
#include "device/trace/recorder.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/ir_type.h"
#include "graph/run/deadline.h"
#include "graph/run/frame.h"
#include "graph/run/run_scope.h"
#include "graph/run/saturation.h"
#include "ops/runner/inside.h"
#include "ops/runner/observer.h"

namespace npu::graph {
namespace {

/// A collective tells more of itself than its tensors.
ops::TaskWriter* only_writer_of(const PlannedNode& planned) {
  return ops::is_collective(ir_type(planned.node->op)) ? nullptr : ops::only_writer();
}

}  // namespace

/// A variable is shown as its value; strings and the client's objects are not shown.
bool Frame::shows(const Planned& planned, Value& shown) const {
  if (planned.slot < 0) return false;
  if (planned.type.is_tensor()) {
    const Slot& slot = plan_->slots[static_cast<size_t>(planned.slot)];
    const Value& late = late_[static_cast<size_t>(planned.slot)];
    if (late.object || (slot.kind == SlotKind::kConstant && !slot.literal->bytes)) return false;
    shown.tensor = tensor(planned);
    return ops::has_memory(shown.tensor);
  }
  const auto* variable = dynamic_cast<const Variable*>(late_[static_cast<size_t>(planned.slot)].object.get());
  if (variable == nullptr || !variable->initialized() || variable->holds_object()) return false;
  shown = variable->read();
  return true;
}

void Frame::see(const Planned& planned, std::vector<ops::Seen>& seen, std::vector<Value>& held) const {
  Value shown;
  if (!shows(planned, shown)) return;
  seen.push_back({"", shown.tensor});
  if (shown.owner) held.push_back(std::move(shown));
}

template <class Visit>
void Frame::each_result(const PlannedNode& planned, Visit&& visit) {
  for (const Planned& output : planned.outputs) visit(output);
  // A node without outputs is there for what it does to its variables.
  if (!planned.outputs.empty() && planned.node->kind != Kind::kVariableUpdate) return;
  for (const Planned& input : planned.inputs)
    if (!input.type.is_tensor()) visit(input);
}

void Frame::see_results(const PlannedNode& planned, std::vector<ops::Seen>& seen, std::vector<Value>& held) const {
  each_result(planned, [&](const Planned& result) { see(result, seen, held); });
}

/// Nothing is held: a variable that is would be copied when it is written.
void Frame::read(const Planned& planned, ops::Reading::Use use, ops::Reading& reading) const {
  Value shown;
  if (shows(planned, shown)) reading.add(shown.tensor, use);
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
  release_after(planned);
}

/// For records alone: what they need, and no more.
void Frame::run_node_written(const PlannedNode& planned, uint64_t number, ops::TaskWriter& writer) {
  const ops::InsideScope closed(nullptr);
  ops::Reading reading;
  for (const Planned& input : planned.inputs) read(input, {true, false}, reading);
  const RunScope* const scope = RunScope::current();
  const std::string_view graph = scope != nullptr ? std::string_view(scope->graph()) : "";
  const int64_t step = scope != nullptr ? scope->step() : 0, start = device::trace::now();
  const auto write = [&] {
    each_result(planned, [&](const Planned& result) { read(result, {false, true}, reading); });
    const std::string_view type = ir_type(planned.node->op);
    writer.write(ops::RanNode{planned.node->name, type, graph, step, device_, number, start, reading});
  };
  try {
    for (int32_t i = planned.first; i < planned.end; ++i) run_allocated(static_cast<size_t>(i));
  } catch (const Error&) {
    write();
    throw;
  }
  write();
  release_after(planned);
}

/// Only now: observers have seen what nobody else asks for.
void Frame::release_after(const PlannedNode& planned) {
  for (int32_t i = planned.first; i < planned.end; ++i)
    for (const SlotId slot : plan_->steps[static_cast<size_t>(i)].done) release(slot);
}

void Frame::run_steps_observed() {
  size_t next = 0;
  for (size_t n = 0; n < plan_->nodes.size(); ++n) {
    const PlannedNode& planned = plan_->nodes[n];
    while (std::cmp_less(next, planned.first)) run_alone_limited(next++);
    if (ops::TaskWriter* const writer = only_writer_of(planned))
      run_node_written(planned, n + 1, *writer);
    else
      run_node_observed(planned, n + 1);
    next = static_cast<size_t>(planned.end);
    if (const Deadline* deadline = Deadline::current()) deadline->check(device_, plan_->steps[next - 1]);
  }
  while (next < plan_->steps.size()) run_alone_limited(next++);
}

}  // namespace npu::graph
