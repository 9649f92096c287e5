// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/no_reuse.h"

#include <gtest/gtest.h>

namespace npu::graph {
namespace {

/// Three nodes in a row, each with memory that lives until the next has read it.
Plan chain() {
  Plan plan;
  const char* names[][2] = {{"a", "Sum"}, {"scope/b", "Relu"}, {"c", "Mul"}};
  for (int32_t i = 0; i < 3; ++i) {
    Slot slot;
    slot.bytes = 64, slot.first = i, slot.last = i + 1;
    plan.slots.push_back(slot);
    Step step;
    step.node = std::make_shared<Node>(Node{.name = names[i][0], .op = names[i][1]});
    step.uses = i == 0 ? std::vector<SlotId>{0} : std::vector<SlotId>{i - 1, i};
    plan.steps.push_back(step);
  }
  return plan;
}

TEST(NoReuse, MemoryIsSharedUnlessANodeIsNamed) {
  Plan plan = chain();
  keep_apart(plan, "Unheard,other");
  place_slots(plan);
  EXPECT_EQ(plan.arena_bytes, 128);
}

TEST(NoReuse, NodesAreNamedByNameOrByEitherNameOfTheOperator) {
  for (const char* names : {"a", "Sum", "ReduceSum", "Unheard,ReduceSum,", "c", "Mul"}) {
    Plan plan = chain();
    keep_apart(plan, names);
    place_slots(plan);
    EXPECT_EQ(plan.arena_bytes, 192) << names;
    EXPECT_EQ(plan.live_bytes, 192) << names;
  }
  Plan plan = chain();
  keep_apart(plan, "scope/b,c");
  EXPECT_EQ(plan.slots[1].first, 0);
  EXPECT_EQ(plan.slots[2].last, 3);
}

}  // namespace
}  // namespace npu::graph
