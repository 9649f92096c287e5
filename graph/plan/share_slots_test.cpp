// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/graph_fixture.h"
#include "graph/plan/planner.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

constexpr int64_t kSide = 32;
constexpr int64_t kBytes = kSide * kSide * 4;

struct Ran {
  int64_t arena_bytes;
  float result;
};

/// Plans and runs a function of one kSide x kSide matrix of ones.
Ran run(const TestFunction& f) {
  Library library(0, {});
  const auto traits = [&](const Value& value) {
    ArgumentTraits out{ValueType::tensor(DType::kFloat), value.tensor, nullptr, nullptr};
    out.tensor.data = nullptr;
    return out;
  };
  std::vector<float> numbers(kSide * kSide);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = i < kSide ? 2.0F : 1.0F;
  const Value x = value_of<float>({kSide, kSide}, numbers);
  const std::vector<ArgumentTraits> all{traits(x)};
  const auto plan = std::make_shared<const Plan>(Planner(*f.function(), library, all).make());
  return {plan->arena_bytes, numbers_of<float>(Frame(plan, library).run({x}).front()).front()};
}

Edge sum(TestFunction& f, Edge x) { return f.node("Sum", {x, f.constant<int32_t>({2}, {0, 1})}); }

TEST(ShareSlots, AChainStaysInOnePieceOfMemory) {
  TestFunction f("f");
  const Edge x = f.argument("x");
  const Edge doubled = f.node("AddV2", {x, x});
  const Edge less = f.node("Sub", {f.node("Mul", {doubled, f.constant<float>({}, {3})}), x});
  f.result(sum(f, f.node("Neg", {less})));
  const Ran ran = run(f);
  EXPECT_EQ(ran.arena_bytes, kBytes);
  EXPECT_EQ(ran.result, -5.0F * (kSide * kSide + kSide));
}

TEST(ShareSlots, WhatIsNeededLaterIsKept) {
  TestFunction f("f");
  const Edge x = f.argument("x");
  const Edge doubled = f.node("AddV2", {x, x}), square = f.node("Square", {doubled});
  f.result(sum(f, f.node("Sub", {square, doubled})));
  const Ran ran = run(f);
  EXPECT_EQ(ran.arena_bytes, 2 * kBytes);
  EXPECT_EQ(ran.result, 2.0F * (kSide * kSide - kSide) + 12.0F * kSide);
}

TEST(ShareSlots, AnotherViewOfTheInputForbidsIt) {
  TestFunction f("f");
  const Edge x = f.argument("x");
  const Edge doubled = f.node("AddV2", {x, x});
  const Edge turned = f.node("Transpose", {doubled, f.constant<int32_t>({2}, {1, 0})});
  f.result(sum(f, f.node("Mul", {doubled, turned})));
  const Ran ran = run(f);
  EXPECT_EQ(ran.arena_bytes, 2 * kBytes);
  const float ones = (kSide - 1) * (kSide - 1), twos = 2 * (kSide - 1);
  EXPECT_EQ(ran.result, 4 * ones + 8 * twos + 16);
}

}  // namespace
}  // namespace npu::graph
