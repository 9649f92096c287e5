// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/graph_fixture.h"
#include "graph/plan/planner.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

constexpr int64_t kSide = 256;

/// The plan of a function of one matrix.
Plan plan_of(TestFunction& f, bool overlaps, int64_t side = kSide) {
  Library library(0, {});
  library.overlap(overlaps);
  ArgumentTraits traits{ValueType::tensor(DType::kFloat), make_tensor(nullptr, DType::kFloat, {side, side}), nullptr,
                        nullptr};
  return Planner(*f.function(), library, std::span(&traits, 1)).make();
}

Edge all_reduce(TestFunction& f, Edge x) {
  const Edge sent = f.node("HcomAllReduce", {x});
  f.with(sent, "group", std::string("world")).with(sent, "reduction", std::string("sum"));
  return sent;
}

size_t sender(const Plan& plan) {
  const auto sends = [](const Step& step) { return step.def != nullptr && step.def->name == "hcom_all_reduce"; };
  return static_cast<size_t>(std::ranges::find_if(plan.steps, sends) - plan.steps.begin());
}

/// A sum, a chain that does not need it, and what needs both.
void fill(TestFunction& f) {
  const Edge x = f.argument("x"), sent = all_reduce(f, f.node("MatMul", {x, x}));
  Edge other = x;
  for (int i = 0; i < 3; ++i) other = f.node("MatMul", {other, x});
  f.result(f.node("Neg", {f.node("MatMul", {other, sent})}));
}

TEST(RunAside, TheFirstStepThatNeedsItWaits) {
  TestFunction f("f");
  fill(f);
  const Plan plan = plan_of(f, true);
  const size_t at = sender(plan);
  EXPECT_TRUE(plan.asides && plan.steps[at].aside);
  for (size_t i = 0; i < plan.steps.size(); ++i)
    EXPECT_EQ(plan.steps[i].awaits, i == 5 ? std::vector<int32_t>{static_cast<int32_t>(at)} : std::vector<int32_t>{});
  TestFunction same("f");
  fill(same);
  EXPECT_FALSE(plan_of(same, false).asides);
}

TEST(RunAside, WhatIsUnderWayKeepsItsMemory) {
  TestFunction f("f");
  fill(f);
  const Plan plan = plan_of(f, true);
  const size_t at = sender(plan);
  for (const SlotId held : plan.steps[at].uses) {
    const Slot& slot = plan.slots[static_cast<size_t>(held)];
    for (size_t i = at + 1; i < 5; ++i)
      for (const SlotId id : plan.steps[i].uses) {
        const Slot& other = plan.slots[static_cast<size_t>(id)];
        if (slot.kind != SlotKind::kArena || other.kind != SlotKind::kArena) continue;
        EXPECT_TRUE(other.offset + other.bytes <= slot.offset || slot.offset + slot.bytes <= other.offset) << i;
      }
  }
}

TEST(RunAside, ASmallTensorKeepsItsPlace) {
  TestFunction f("f"), less("f");
  fill(f), fill(less);
  EXPECT_TRUE(plan_of(f, true, 256).asides);
  EXPECT_FALSE(plan_of(less, true, 255).asides);
}

TEST(RunAside, WhatNobodyNeedsIsWaitedForAtTheEnd) {
  TestFunction f("f");
  const Edge x = f.argument("x"), sent = all_reduce(f, f.node("MatMul", {x, x}));
  f.result(sent).result(f.node("Neg", {x}));
  const Plan plan = plan_of(f, true);
  const Step& step = plan.steps[sender(plan)];
  EXPECT_TRUE(step.aside);
  for (const Step& other : plan.steps) EXPECT_TRUE(other.awaits.empty());
  for (const SlotId held : step.uses)
    EXPECT_EQ(plan.slots[static_cast<size_t>(held)].last, static_cast<int32_t>(plan.steps.size()));
}

}  // namespace
}  // namespace npu::graph
