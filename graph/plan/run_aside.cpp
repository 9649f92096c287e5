// SPDX-License-Identifier: Apache-2.0
// Gradients are summed up over the ranks while the backward pass goes on (hcom_parallel). What such a step reads and
// writes keeps its memory until the first step that needs any of it, which waits.
#include <algorithm>
#include <set>

#include "graph/plan/shared_slot.h"
#include "ops/runner/turn.h"

namespace npu::graph {
namespace {

// To hand over a tensor of less takes longer than to be done with it, and there may be hundreds of them.
constexpr int64_t kLeastBytes = 256 << 10;

/// What goes together is large, or there are few such steps.
bool pays(const Step& step) {
  const auto is_large = [](const Planned& one) { return one.dynamic || bytes_of(one.view) >= kLeastBytes; };
  return step.block >= 0 || std::ranges::any_of(step.tensors, [&](const TensorField& field) {
           return std::ranges::any_of(field.values, is_large);
         });
}

std::set<SlotId> roots_of(const Plan& plan, const std::vector<SlotId>& slots) {
  std::set<SlotId> out;
  for (const SlotId id : slots) out.insert(root_of(plan, id));
  return out;
}

/// The first step behind `at` that uses any of these; behind the last one where none does.
size_t first_user(const Plan& plan, size_t at, const std::set<SlotId>& held) {
  for (size_t i = at + 1; i < plan.steps.size(); ++i)
    for (const SlotId id : plan.steps[i].uses)
      if (held.contains(root_of(plan, id))) return i;
  return plan.steps.size();
}

void set_aside(Plan& plan, size_t at) {
  Step& step = plan.steps[at];
  const std::set<SlotId> held = roots_of(plan, step.uses);
  const size_t user = first_user(plan, at, held);
  if (user == at + 1) return;  // there is nothing to run beside it
  step.aside = plan.asides = true;
  for (const SlotId id : held) {
    Slot& slot = plan.slots[static_cast<size_t>(id)];
    slot.last = std::max(slot.last, static_cast<int32_t>(user));
  }
  const std::vector<SlotId> done = std::move(step.done);
  step.done.clear();
  if (user == plan.steps.size()) return;  // the run waits for it at its end
  Step& waits = plan.steps[user];
  waits.awaits.push_back(static_cast<int32_t>(at));
  waits.done.insert(waits.done.end(), done.begin(), done.end());
}

}  // namespace

void run_aside(Plan& plan) {
  for (size_t i = 0; i < plan.steps.size(); ++i)
    if (const Step& step = plan.steps[i]; step.def != nullptr && step.def->is(ops::kTakesTurns) && pays(step))
      set_aside(plan, i);
}

}  // namespace npu::graph
