// SPDX-License-Identifier: Apache-2.0
// Formulas that become one step give the bits of their operators one by one; what is not the formula, or is read in
// between, stays as it is.
#include "ops/vector/chain/join.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

constexpr DType kF = DType::kFloat;

ChainStep step(std::string op, std::vector<int> registers, DType dtype = kF) {
  ChainStep out{std::move(op), dtype};
  out.operands.emplace_back("self", registers[0]);
  if (registers.size() > 1) out.operands.emplace_back("other", registers[1]);
  return out;
}

/// x and four numbers.
ChainGroup hard_swish(DType dtype = kF) {
  return {std::vector<DType>(5, dtype),
          {step("mul", {1, 0}, dtype), step("add", {5, 2}, dtype), step("minimum", {6, 3}, dtype),
           step("maximum", {7, 4}, dtype), step("mul", {8, 0}, dtype)},
          {9}};
}
ChainGroup gelu() {
  return {std::vector<DType>(4, kF),
          {step("div", {0, 1}), step("erf", {4}), step("add", {2, 5}), step("mul", {0, 6}), step("mul", {7, 3})},
          {8}};
}

std::vector<std::string> ops(const ChainGroup& group) {
  std::vector<std::string> out;
  for (const ChainStep& s : joined(group).steps) out.push_back(s.op);
  return out;
}

/// The registers of a group, each operator run by itself.
std::vector<double> one_by_one(const ChainGroup& group, const std::deque<Array>& inputs) {
  std::vector<Tensor> registers;
  for (const Array& input : inputs) registers.push_back(input.tensor());
  std::deque<Array> results;  // none moves, and tensors point into them
  for (const ChainStep& s : group.steps) {
    Array out(s.result, inputs[0].tensor().shape);
    Call call(s.op);
    for (const auto& [field, reg] : s.operands) call.set(field, Operand{registers[static_cast<size_t>(reg)], {}});
    call.set("out", out.tensor()).run();
    registers.push_back(out.tensor());
    results.push_back(std::move(out));
  }
  return results[static_cast<size_t>(group.outputs[0]) - inputs.size()].values();
}

void expect_same(const ChainGroup& group, const std::vector<double>& numbers) {
  const DType dtype = group.inputs[0];
  std::deque<Array> inputs;
  inputs.push_back(Array(dtype, {3000}).random(1));
  auto* x = inputs[0].tensor().as<float>();
  if (dtype == kF) x[0] = -0.0F, x[1] = INFINITY, x[2] = -INFINITY, x[3] = NAN, x[4] = 1e-40F;
  for (const double number : numbers) inputs.push_back(Array(dtype, {}).filled(number));
  std::vector<Tensor> tensors;
  for (const Array& input : inputs) tensors.push_back(input.tensor());
  const Array out(dtype, {3000});
  Call("chain")
      .set("inputs", tensors)
      .set("outputs", std::vector<Tensor>{out.tensor()})
      .set("program", chain_program({group}))
      .run();
  const std::vector<double> got = out.values(), wanted = one_by_one(group, inputs);
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i])) {
      ASSERT_TRUE(std::isnan(got[i])) << "element " << i;
      continue;
    }
    ASSERT_EQ(got[i], wanted[i]) << "element " << i;
    ASSERT_EQ(std::signbit(got[i]), std::signbit(wanted[i])) << "element " << i;
  }
}

TEST(Join, FormulasAreTheirOperators) {
  EXPECT_EQ(ops(hard_swish()), std::vector<std::string>{"joined_hard_swish"});
  expect_same(hard_swish(), {1.0 / 6, 0.5, 1, 0});
  ChainGroup sigmoid = hard_swish();
  sigmoid.steps.pop_back(), sigmoid.outputs = {8};
  EXPECT_EQ(ops(sigmoid), std::vector<std::string>{"joined_hard_sigmoid"});
  expect_same(sigmoid, {0.2, 0.5, 1, 0});
  EXPECT_EQ(ops(gelu()), std::vector<std::string>{"joined_gelu_of_quotient"});
  expect_same(gelu(), {1.4142135, 1, 0.5});
  ChainGroup half = gelu();
  half.steps[3] = step("mul", {3, 0}), half.steps[4] = step("mul", {7, 6});
  EXPECT_EQ(ops(half), std::vector<std::string>{"joined_half_gelu_of_quotient"});
  expect_same(half, {1.4142135, 1, 0.5});
  half.steps[0] = step("mul", {1, 0});
  EXPECT_EQ(ops(half), std::vector<std::string>{"joined_half_gelu_of_product"});
  expect_same(half, {0.70710677, 1, 0.5});
  const ChainGroup silu{{kF}, {step("sigmoid", {0}), step("mul", {0, 1})}, {2}};
  EXPECT_EQ(ops(silu), std::vector<std::string>{"joined_silu"});
  expect_same(silu, {});
}

TEST(Join, StepsAroundAFormulaStay) {
  ChainGroup group = gelu();
  group.steps.push_back(step("add", {8, 0})), group.steps.push_back(step("exp", {9})), group.outputs = {10};
  EXPECT_EQ(ops(group), (std::vector<std::string>{"joined_gelu_of_quotient", "joined_sum", "exp"}));
  expect_same(group, {1.4142135, 1, 0.5});
}

TEST(Join, WhatIsReadInBetweenIsKept) {
  ChainGroup group = gelu();
  group.outputs.push_back(5);
  EXPECT_EQ(ops(group), (std::vector<std::string>{"div", "erf", "joined_sum", "mul", "mul"}));
  // Another value where the formula has x again.
  ChainGroup other = hard_swish();
  other.steps[4] = step("mul", {8, 2});
  EXPECT_EQ(ops(other), (std::vector<std::string>{"joined_hard_sigmoid", "mul"}));
  // Of two zeros the first is taken, so these do not change places.
  ChainGroup turned = hard_swish();
  turned.steps[3] = step("maximum", {4, 7});
  EXPECT_EQ(ops(turned), (std::vector<std::string>{"mul", "joined_sum", "minimum", "maximum", "mul"}));
}

TEST(Join, NarrowTypesRoundAfterEveryStep) {
  EXPECT_EQ(ops(hard_swish(DType::kHalf)), (std::vector<std::string>{"mul", "add", "minimum", "maximum", "mul"}));
  expect_same(hard_swish(DType::kHalf), {1.0 / 6, 0.5, 1, 0});
}

TEST(Join, AnAddendWithAFactorStays) {
  ChainStep scaled = step("add", {0, 1});
  scaled.numbers.emplace_back("alpha", 2);
  EXPECT_EQ(ops({{kF, kF}, {scaled}, {2}}), std::vector<std::string>{"add"});
}

}  // namespace
}  // namespace npu::ops
