// SPDX-License-Identifier: Apache-2.0
// Offsets in the arena, the largest slot first, each at the lowest gap left by those it lives together with: within a
// few per cent of the bytes alive at the worst step on training graphs.
#include <algorithm>
#include <numeric>

#include "graph/plan/plan.h"

namespace npu::graph {
namespace {

constexpr int64_t kAlignment = 64;  // a vector register and a cache line

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool meet(const Slot& a, const Slot& b) { return a.first <= b.last && b.first <= a.last; }

/// The lowest offset at which `slot` fits between the placed slots that live with it.
int64_t lowest_gap(const Slot& slot, const std::vector<const Slot*>& placed) {
  std::vector<const Slot*> beside;
  for (const Slot* other : placed)
    if (meet(slot, *other)) beside.push_back(other);
  std::sort(beside.begin(), beside.end(), [](const Slot* a, const Slot* b) { return a->offset < b->offset; });
  int64_t offset = 0;
  for (const Slot* other : beside) {
    if (offset + aligned(slot.bytes) <= other->offset) break;
    offset = std::max(offset, other->offset + aligned(other->bytes));
  }
  return offset;
}

int64_t most_alive(const std::vector<Slot*>& slots, size_t steps) {
  std::vector<int64_t> change(steps + 2);
  for (const Slot* slot : slots) {
    change[static_cast<size_t>(slot->first)] += aligned(slot->bytes);
    change[static_cast<size_t>(slot->last) + 1] -= aligned(slot->bytes);
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  return *std::max_element(change.begin(), change.end());
}

/// Where the slot lies; those that nothing else shares have been placed.
int64_t offset_of(const Plan& plan, const Slot& slot) {
  if (slot.shares < 0) return slot.offset;
  return offset_of(plan, plan.slots[static_cast<size_t>(slot.shares)]) + slot.within;
}

}  // namespace

void place_slots(Plan& plan) {
  std::vector<Slot*> slots;
  for (Slot& slot : plan.slots)
    if (slot.kind == SlotKind::kArena && slot.first >= 0 && slot.shares < 0) slots.push_back(&slot);
  plan.live_bytes = most_alive(slots, plan.steps.size());
  std::stable_sort(slots.begin(), slots.end(), [](const Slot* a, const Slot* b) { return a->bytes > b->bytes; });
  std::vector<const Slot*> placed;
  for (Slot* slot : slots) {
    slot->offset = lowest_gap(*slot, placed);
    plan.arena_bytes = std::max(plan.arena_bytes, slot->offset + aligned(slot->bytes));
    placed.push_back(slot);
  }
  for (Slot& slot : plan.slots)
    if (slot.shares >= 0) slot.offset = offset_of(plan, slot);
}

}  // namespace npu::graph
