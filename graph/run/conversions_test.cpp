// SPDX-License-Identifier: Apache-2.0
#include "graph/run/conversions.h"

#include <gtest/gtest.h>

#include "graph/graph_fixture.h"
#include "graph/plan/planner.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

Literal literal(const std::vector<float>& numbers) {
  const auto* bytes = reinterpret_cast<const std::byte*>(numbers.data());
  return {ValueType::tensor(DType::kFloat),
          {static_cast<int64_t>(numbers.size())},
          std::make_shared<const std::vector<std::byte>>(bytes, bytes + numbers.size() * sizeof(float)),
          nullptr};
}

TEST(Conversions, LastAsLongAsSomebodyHoldsThem) {
  Conversions conversions;
  const Literal from = literal({1, 2, 3});
  EXPECT_FALSE(conversions.find(from, DType::kDouble));
  {
    const Literal doubles{ValueType::tensor(DType::kDouble),
                          {3},
                          std::make_shared<const std::vector<std::byte>>(3 * sizeof(double)),
                          nullptr};
    conversions.keep(from, doubles);
    const auto found = conversions.find(from, DType::kDouble);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->bytes.get(), doubles.bytes.get());
    EXPECT_EQ(found->type.dtype, DType::kDouble);
    EXPECT_FALSE(conversions.find(from, DType::kHalf));
    EXPECT_FALSE(conversions.find(literal({1, 2, 3}), DType::kDouble)) << "equal, but somebody else's";
    Literal longer = from;
    longer.shape = {4};
    EXPECT_FALSE(conversions.find(longer, DType::kDouble));
  }
  EXPECT_FALSE(conversions.find(from, DType::kDouble));
}

constexpr int64_t kMany = 1 << 16;

/// x + a large constant, cast to float16 or otherwise computed.
std::shared_ptr<Function> example(bool cast) {
  const ValueType type = ValueType::tensor(cast ? DType::kHalf : DType::kFloat);
  TestFunction f("f");
  const Edge x = f.argument("x", type);
  const Edge large = f.node(cast ? "Cast" : "Neg", {f.constant<float>({kMany}, std::vector<float>(kMany, 1.5F))}, type);
  if (cast) f.with(large, "DstT", type);
  return f.result(f.node("AddV2", {x, large}, type)).function();
}

/// The steps of a plan for this shape of x, and where the elements of its largest constant lie.
std::pair<size_t, const std::byte*> planned(Library& library, const Function& f, const Dims& shape) {
  const ValueType type = f.arguments.front().value.type;
  const std::vector<ArgumentTraits> traits = {{type, make_tensor(nullptr, type.dtype, shape), nullptr, nullptr}};
  const Plan plan = Planner(f, library, traits).make();
  const std::byte* where = nullptr;
  for (const Slot& slot : plan.slots)
    if (slot.literal && slot.literal->type.dtype == DType::kHalf && slot.literal->count() == kMany)
      where = slot.literal->bytes.get();
  return {plan.steps.size(), where};
}

TEST(Conversions, LargeCastsAreNoStepsAndOnceForAllPlans) {
  Library library(0);
  const auto f = example(true);
  const std::vector<ArgumentTraits> traits = {
      {ValueType::tensor(DType::kHalf), make_tensor(nullptr, DType::kHalf, {kMany}), nullptr, nullptr}};
  const Plan holds = Planner(*f, library, traits).make();
  const auto [steps, where] = planned(library, *f, {kMany});
  const auto [more_steps, the_same] = planned(library, *f, {2, kMany});
  EXPECT_EQ(steps, 1u);
  EXPECT_EQ(more_steps, 1u);
  ASSERT_NE(where, nullptr);
  EXPECT_EQ(where, the_same);
  EXPECT_EQ(planned(library, *example(false), {kMany}).first, 2u) << "what is cheap to make is made in the run";
  Program program;
  program.add(f);
  library.add(program);
  Value zero = value_of<uint16_t>({1}, {0});
  zero.tensor.dtype = DType::kHalf;
  const std::vector<Value> results = library.get("f")->run({zero});
  EXPECT_EQ(results[0].tensor.as<uint16_t>()[kMany - 1], 0x3E00) << "1.5";
}

}  // namespace
}  // namespace npu::graph
