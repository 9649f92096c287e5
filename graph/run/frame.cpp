// SPDX-License-Identifier: Apache-2.0
#include "graph/run/frame.h"

#include <algorithm>

#include "base/error.h"
#include "device/context/state.h"
#include "graph/ir/node_error.h"
#include "graph/plan/binding.h"
#include "graph/run/aside.h"
#include "graph/run/deadline.h"
#include "graph/run/saturation.h"
#include "ops/runner/inside.h"
#include "ops/runner/turn.h"

namespace npu::graph {
Frame::Frame(std::shared_ptr<const Plan> plan, Environment& environment)
    : plan_(std::move(plan)),
      environment_(environment),
      device_(environment.device()),
      operators_(plan_->steps.size()),
      state_(plan_->steps.size(), Bound::kNever),
      late_(plan_->slots.size()),
      bound_(plan_->slots.size()) {
  if (plan_->arena_bytes > 0) arena_ = make_value(device_, DType::kUInt8, {plan_->arena_bytes});
  for (size_t i = 0; i < operators_.size(); ++i)
    if (plan_->steps[i].def != nullptr) operators_[i] = make_operator(plan_->steps[i]);
}

std::byte* Frame::address(const Slot& slot, SlotId id) const {
  switch (slot.kind) {
    case SlotKind::kArena: return static_cast<std::byte*>(arena_.tensor.data) + slot.offset;
    case SlotKind::kConstant: return const_cast<std::byte*>(slot.literal->bytes->data());
    default: return late_[static_cast<size_t>(id)].tensor.bytes();
  }
}

Tensor Frame::tensor(const Planned& planned) const {
  const Slot& slot = plan_->slots[static_cast<size_t>(planned.slot)];
  Tensor tensor = planned.dynamic ? late_[static_cast<size_t>(planned.slot)].tensor : planned.view;
  if (!planned.dynamic) tensor.data = address(slot, planned.slot);
  return tensor;
}

Value Frame::value(const Planned& planned) const {
  const Slot& slot = plan_->slots[static_cast<size_t>(planned.slot)];
  if (slot.kind == SlotKind::kConstant && slot.literal->bytes) {
    if (contiguous(planned)) return {tensor(planned), slot.literal->bytes, nullptr};
    return copy_of(device_, tensor(planned));
  }
  if (slot.kind == SlotKind::kConstant) return {{}, nullptr, std::make_shared<StringTensor>(*slot.literal)};
  if (slot.kind == SlotKind::kArena) return copy_of(device_, tensor(planned));
  const Value& late = late_[static_cast<size_t>(planned.slot)];
  if (late.object) return late;
  if (!late.owner || !contiguous(planned)) return copy_of(device_, tensor(planned));
  return {tensor(planned), late.owner, nullptr};
}

std::vector<Value> Frame::take(std::span<const Planned> planned) {
  std::vector<Value> values;
  for (const Planned& one : planned) values.push_back(value(one));
  // Those that the last step or nobody needs are done; plans list them with the step.
  for (const Planned& one : planned)
    if (std::find(step_->done.begin(), step_->done.end(), one.slot) != step_->done.end()) release(one.slot);
  return values;
}

void Frame::set(const Planned& planned, Value value) {
  const auto id = static_cast<size_t>(planned.slot);
  late_[id] = std::move(value);
  if (late_[id].object) return;
  void* now = late_[id].tensor.bytes();
  if (now == bound_[id]) return;
  bound_[id] = now;
  for (const int32_t step : plan_->users[id]) {
    Bound& state = state_[static_cast<size_t>(step)];
    if (state == Bound::kNow) state = Bound::kBefore;
  }
}

void Frame::release(SlotId slot) { late_[static_cast<size_t>(slot)] = {}; }

void Frame::bind(size_t i) {
  const Step& step = plan_->steps[i];
  ops::Operator& op = *operators_[i];
  const auto where = [&](const Planned& p) { return address(plan_->slots[static_cast<size_t>(p.slot)], p.slot); };
  if (state_[i] == Bound::kNever) {
    bind_tensors(op, step, where);
    op.prepare();
  } else {
    move_tensors(op, step, where);
    op.moved();
  }
  state_[i] = Bound::kNow;
}

namespace {

bool overlap(const Tensor& a, const Tensor& b) {
  return a.bytes() < b.bytes() + bytes_of(b) && b.bytes() < a.bytes() + bytes_of(a);
}

}  // namespace

/// Results that are brought late and fill their slot are written where the client wants them, unless an argument lies
/// there, which may be read after the result is written.
void Frame::put_results(std::span<const Tensor> places) {
  for (size_t i = 0; i < places.size(); ++i) {
    const Planned& result = plan_->results[i];
    if (places[i].data == nullptr || result.slot < 0 || result.dynamic || is_object(result.type)) continue;
    const Slot& slot = plan_->slots[static_cast<size_t>(result.slot)];
    if (!slot.result || slot.bytes != bytes_of(places[i]) || late_[static_cast<size_t>(result.slot)].owner) continue;
    const bool taken = std::any_of(plan_->arguments.begin(), plan_->arguments.end(), [&](const Planned& argument) {
      return argument.slot >= 0 && !argument.literal && !is_object(argument.type) &&
             overlap(late_[static_cast<size_t>(argument.slot)].tensor, places[i]);
    });
    Planned whole;
    whole.slot = result.slot;
    // Nobody owns it here, and it must not look like memory without an owner, which results are copied from.
    if (!taken) set(whole, {places[i], std::shared_ptr<const void>(std::shared_ptr<void>(), places[i].data), nullptr});
  }
}

void Frame::start(std::vector<Value> arguments, std::span<const Tensor> places) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!plan_->arguments[i].literal) set(plan_->arguments[i], std::move(arguments[i]));
  if (!places.empty() && !plan_->rest) put_results(places);
  for (size_t i = 0; i < plan_->slots.size(); ++i) {
    const Slot& slot = plan_->slots[i];
    if (slot.result && !late_[i].owner) allocate(static_cast<SlotId>(i));
  }
}

void Frame::allocate(SlotId slot) {
  Planned whole;
  whole.slot = slot;
  set(whole, make_value(device_, DType::kUInt8, {plan_->slots[static_cast<size_t>(slot)].bytes}));
}

void Frame::run_step(size_t i) {
  const Step& step = plan_->steps[i];
  if (step.def == nullptr) {
    step_ = &step;
    at_node(*step.node, [&] { step.body(*this); });
  } else {
    if (outdated(i)) at_node(*step.node, [&] { bind(i); });
    if (step.def->is(ops::kTakesTurns)) [[unlikely]] {
      settle(group_of(i));
      return at_node(*step.node, [&] { meet(i); });
    }
    if (ops::InsideScope::open()) [[unlikely]]
      return at_node(*step.node, [&] { ops::InsideScope::run(*operators_[i]); });
    at_node(*step.node, [&] { operators_[i]->run(); });  // bad indices and the like are found here
  }
}

/// Runs an operator that meets other ranks, in this thread.
void Frame::meet(size_t i) {
  ops::Operator& its = *operators_[i];
  ops::turns_of(its)->run_here(device_, plan_->steps[i].def->name.data(), [&] { its.run(); });
}

void Frame::run_allocated(size_t i) {
  const Step& step = plan_->steps[i];
  for (const SlotId slot : step.fresh) allocate(slot);
  const StepPlace place{*plan_, step};
  ops::run_on(device_, operators_[i].get(), {StepPlace::describe, &place}, [&] { run_step(i); });
}

void Frame::run_alone(size_t i) {
  run_allocated(i);
  for (const SlotId slot : plan_->steps[i].done) release(slot);
}

void Frame::run_alone_limited(size_t i) {
  run_alone(i);
  if (const Deadline* deadline = Deadline::current()) deadline->check(device_, plan_->steps[i]);
}

void Frame::run_steps() {
  if (ops::observed()) [[unlikely]]
    return run_steps_observed();
  if (plan_->asides) [[unlikely]]
    return run_steps_aside();
  if (Deadline::current() != nullptr) [[unlikely]]
    for (size_t i = 0; i < operators_.size(); ++i) run_alone_limited(i);
  else
    for (size_t i = 0; i < operators_.size(); ++i) run_alone(i);
}

std::vector<Value> Frame::finish() {
  std::vector<Value> values;
  for (const Planned& planned : plan_->rest ? plan_->rest_arguments : plan_->results) values.push_back(value(planned));
  for (Value& late : late_)
    if (late.tensor.data != nullptr || late.owner || late.object) late = {};
  return values;
}

std::vector<Value> Frame::run(std::vector<Value> arguments, std::span<const Tensor> places) {
  start(std::move(arguments), places);
  run_steps();
  return finish();
}

}  // namespace npu::graph
