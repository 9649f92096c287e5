// SPDX-License-Identifier: Apache-2.0
// Tensors that are sent together lie in one block. What is computed only to be sent is written there at once, so that
// nothing is copied; anything else is copied by the step that sends it.
#include <algorithm>

#include "graph/plan/builder.h"
#include "graph/plan/shared_slot.h"

namespace npu::graph {
namespace {

/// The slot that can become a part of the block when `in` is read for the last time by step `now`; -1 for none.
SlotId movable(const Plan& plan, const Planned& in, int32_t now) {
  const Slot& slot = plan.slots[static_cast<size_t>(in.slot)];
  if (!fills_slot(in, slot)) return -1;
  const SlotId root = root_of(plan, in.slot);
  const Slot& whole = plan.slots[static_cast<size_t>(root)];
  const bool fits = whole.kind == SlotKind::kArena && whole.bytes == slot.bytes && slot.last == now;
  return fits && whole.last == now ? root : -1;
}

void pack(Plan& plan, size_t at) {
  const Step& step = plan.steps[at];
  const auto now = static_cast<int32_t>(at);
  Slot& block = plan.slots[static_cast<size_t>(step.block)];
  if (block.kind != SlotKind::kArena || block.first != now) return;
  const std::vector<Planned>& list = step.tensors.front().values;
  for (size_t i = 0; i < list.size(); ++i) {
    const SlotId root = movable(plan, list[i], now);
    if (root < 0 || root == step.block) continue;  // it stands in the list twice
    Slot& part = plan.slots[static_cast<size_t>(root)];
    part.shares = step.block, part.within = step.places[i];
    block.first = std::min(block.first, part.first);
  }
}

}  // namespace

void pack_slots(Plan& plan) {
  for (size_t i = 0; i < plan.steps.size(); ++i)
    if (plan.steps[i].block >= 0) pack(plan, i);
}

}  // namespace npu::graph
