// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/culprit/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>

namespace npu::compare {
namespace {

Deviation output(uint64_t count, double largest = 1) {
  Deviation d;
  d.count = count, d.shape = {count}, d.largest = largest;
  return d;
}

Tolerance of(const std::string& type, const std::vector<Reading>& inputs, const Deviation& out) {
  Operator op;
  op.type = type;
  return tolerance_of(op, inputs, out);
}

Reading reading(uint64_t count, double root_mean_square = 1, double error = 0) {
  return {error, root_mean_square, root_mean_square, count};
}

TEST(ToleranceTest, APointwiseOperatorRoundsAFewTimes) {
  const Tolerance found = of("Add", {reading(64), reading(64)}, output(64));
  EXPECT_EQ(found.reduction, 1);
  EXPECT_EQ(found.scale, 1);
  EXPECT_DOUBLE_EQ(found.allowed(0x1p-23), 17 * 0x1p-23);
}

TEST(ToleranceTest, ACoarserTypeAllowsAsMuchMore) {
  const Tolerance found = of("Add", {reading(64)}, output(64));
  EXPECT_DOUBLE_EQ(found.allowed(epsilon_of(2)) / found.allowed(epsilon_of(1)), 0x1p13);
  EXPECT_DOUBLE_EQ(found.allowed(epsilon_of(27)) / found.allowed(epsilon_of(2)), 8);
  for (const int32_t whole : {3, 7, 8, 11}) EXPECT_EQ(epsilon_of(whole), 0) << whole;
}

TEST(ToleranceTest, ALongerSumAllowsTheRootOfItsLength) {
  const Tolerance found = of("ReduceSum", {reading(6400)}, output(64, 1000));
  EXPECT_EQ(found.reduction, 100);
  EXPECT_DOUBLE_EQ(found.allowed(0x1p-10), 1000 * 0x1p-10 * (16 + 10));
}

TEST(ToleranceTest, AProductOfMatricesIsAsLongAsItsInnerSide) {
  // [8, 100] x [100, 16]: what cancels in a sum had the size of its terms.
  const Tolerance found = of("MatMulV2", {reading(800, 2), reading(1600, 3)}, output(128, 0.5));
  EXPECT_DOUBLE_EQ(found.reduction, 100);
  EXPECT_DOUBLE_EQ(found.scale, 10 * 2 * 3);
}

TEST(ToleranceTest, FusedOperatorsCountWithAllThatTheyHold) {
  Operator op;
  op.type = "FusedOp", op.original_types = {"MatMul", "Relu"};
  EXPECT_DOUBLE_EQ(tolerance_of(op, {reading(800), reading(1600)}, output(128)).reduction, 100);
  EXPECT_TRUE(jumps(op));
  op.original_types = {"MatMul"};
  EXPECT_FALSE(jumps(op));
}

TEST(ToleranceTest, TheErrorOfTheInputsGrowsAsTheOperatorIsConditioned) {
  const Tolerance well = of("Add", {reading(64, 1, 1e-3), reading(64)}, output(64));
  const Tolerance ill = of("Softmax", {reading(64, 1, 1e-3)}, output(64));
  EXPECT_DOUBLE_EQ(well.input_error, 1e-3);
  EXPECT_NEAR(well.allowed(0), 16e-3, 1e-9);
  EXPECT_NEAR(ill.allowed(0), 1.024, 1e-9);
}

TEST(ToleranceTest, AProductOfSmallOnesIsNotAsLargeAsItsInputs) {
  EXPECT_EQ(of("Mul", {reading(64, 100)}, output(64, 0.01)).scale, 0.01);
  EXPECT_EQ(of("Sub", {reading(64, 100)}, output(64, 0.01)).scale, 100);
}

}  // namespace
}  // namespace npu::compare
