// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/graph_fixture.h"
#include "graph/plan/planner.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

constexpr int64_t kSide = 24;
constexpr int64_t kBytes = kSide * kSide * 4;

/// The plan of a function of one matrix that sends what `make` gives together.
template <class Make>
Plan plan_of(Make&& make, bool needed_later = false) {
  Library library(0, {});
  TestFunction f("f");
  const Edge x = f.argument("x");
  const std::vector<Edge> sent = make(f, x);
  const Edge all = f.node("HcomAllReduce", sent, ValueType::tensor(DType::kFloat), sent.size());
  f.with(all, "group", std::string("world")).with(all, "reduction", std::string("sum"));
  for (size_t i = 0; i < sent.size(); ++i) f.result(f.node("Neg", {{all.node, static_cast<int32_t>(i)}}));
  if (needed_later) f.result(f.node("Neg", {sent.front()}));
  ArgumentTraits traits{ValueType::tensor(DType::kFloat), make_tensor(nullptr, DType::kFloat, {kSide, kSide}), nullptr,
                        nullptr};
  return Planner(*f.function(), library, std::span(&traits, 1)).make();
}

const Step& sender(const Plan& plan) {
  return *std::ranges::find_if(plan.steps, [](const Step& step) { return step.block >= 0; });
}

/// Which of the tensors are computed where they lie in the block.
std::string in_place(const Plan& plan) {
  const Step& step = sender(plan);
  const Slot& block = plan.slots[static_cast<size_t>(step.block)];
  std::string out;
  const std::vector<Planned>& list = step.tensors.front().values;
  for (size_t i = 0; i < list.size(); ++i) {
    const Slot& slot = plan.slots[static_cast<size_t>(list[i].slot)];
    out += slot.kind == SlotKind::kArena && slot.offset == block.offset + step.places[i] ? '1' : '0';
  }
  return out;
}

TEST(PackSlots, WhatIsComputedToBeSentIsComputedInItsPlace) {
  const Plan plan = plan_of([](TestFunction& f, Edge x) {
    const Edge a = f.node("MatMul", {x, x});
    return std::vector<Edge>{a, f.node("Square", {f.node("MatMul", {x, x})}), f.node("Neg", {x})};
  });
  EXPECT_EQ(in_place(plan), "111");
  EXPECT_EQ(plan.slots[static_cast<size_t>(sender(plan).block)].first, 0);  // nobody else's memory meanwhile
  EXPECT_GE(plan.arena_bytes, 3 * kBytes);
}

TEST(PackSlots, WhatIsNeededLaterOrNotComputedHereIsCopied) {
  const auto make = [](TestFunction& f, Edge x) {
    const Edge a = f.node("MatMul", {x, x}), b = f.node("Square", {x}), twice = f.node("Neg", {x});
    f.result(b);
    return std::vector<Edge>{a, b, twice, twice, x};
  };
  EXPECT_EQ(in_place(plan_of(make)), "10100");
  EXPECT_EQ(in_place(plan_of(make, true)), "00100");
}

}  // namespace
}  // namespace npu::graph
