// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/model/chip_time.h"

#include <gtest/gtest.h>

namespace npu::profile {
namespace {

using device::trace::Unit;

const Chip kChip("Ascend910B3");

Work product(double operations, double bytes, std::string_view type = "FLOAT16") {
  Work work;
  work.unit = Unit::kCube, work.cube = operations, work.cube_type = type, work.bytes = bytes;
  return work;
}

TEST(ChipTime, IsTheLongestPartAndTheLaunch) {
  const Estimate fast = estimate(kChip, product(313e12 * 0.84, 1600e9 * 0.75 / 2));  // a second, and half of one
  EXPECT_NEAR(fast.time(), 1e6 + 5, 1e-3);
  EXPECT_EQ(fast.bound(), Bound::kCube);
  const Estimate slow = estimate(kChip, product(313e12 * 0.84 / 4, 1600e9 * 0.75 / 2));
  EXPECT_NEAR(slow.time(), 5e5 + 5, 1e-3);
  EXPECT_EQ(slow.bound(), Bound::kMemory);
}

TEST(ChipTime, OfNothingIsTheLaunch) {
  EXPECT_EQ(estimate(kChip, product(0, 0)).time(), 5);
  EXPECT_EQ(estimate(kChip, product(0, 0)).bound(), Bound::kLaunch);
  EXPECT_EQ(estimate(kChip, Work{}).time(), 2);
}

TEST(ChipTime, TypesHaveTheirRates) {
  EXPECT_NEAR(estimate(kChip, product(83e12 * 0.84, 0, "FLOAT")).time(), 1e6 + 5, 1e-3);
  EXPECT_NEAR(*cube_rate(kChip, "DT_BF16"), 294.9e12 * 0.84, 1);
  Work wide, narrow;
  wide.vector = narrow.vector = 9e12 / 2, narrow.vector_width = 2;
  EXPECT_NEAR(estimate(kChip, wide).time(), 1e6 + 2, 1e-3);
  EXPECT_NEAR(estimate(kChip, narrow).time(), 5e5 + 2, 1e-3);
  EXPECT_EQ(estimate(kChip, wide).bound(), Bound::kVector);
}

TEST(ChipTime, WithoutARateThereIsNone) {
  for (const char* type : {"DOUBLE", "FLOAT8_E5M2", ""}) {
    const Estimate made = estimate(kChip, product(1e12, 1e6, type));
    EXPECT_EQ(made.missing, "cube rate of " + std::string(type));
    EXPECT_EQ(made.time(), 0);
  }
  EXPECT_EQ(estimate(Chip("Ascend910A"), product(1e12, 1e6, "DT_BF16")).missing, "bfloat16, which it does not have");
  EXPECT_EQ(estimate(Chip("Ascend310P3"), Work{}).missing, "share of the bandwidth that operators reach");
}

TEST(ChipTime, WhatFitsIntoL2IsReadFromIt) {
  const Chip chip("Ascend910A");
  EXPECT_NEAR(estimate(chip, product(0, 32e6)).time(), 8 + 10.5, 1e-9);
  EXPECT_NEAR(estimate(chip, product(0, 33e6)).time(), 33e6 / (1200e9 * 0.96) * 1e6 + 10.5, 1e-9);
}

TEST(ChipTime, OfLinksTheNarrowestCounts) {
  Work all;
  all.unit = Unit::kCollective, all.ranks = 8, all.to_peer = 28e9 * 0.67, all.sent = 7 * all.to_peer;
  EXPECT_NEAR(estimate(kChip, all).time(), 1e6 + 10, 1e-3);
  EXPECT_EQ(estimate(kChip, all).bound(), Bound::kLink);
  const Estimate pcie = estimate(Chip("Ascend910B4"), all);
  EXPECT_EQ(pcie.missing, "share of the links that collectives reach");
  all.ranks = 9;
  EXPECT_EQ(estimate(kChip, all).missing, "links between nodes, of more ranks than one node has");
  all.ranks = 1, all.sent = all.to_peer = 0;
  EXPECT_EQ(estimate(kChip, all).time(), 10);
  EXPECT_EQ(estimate(Chip("Ascend910A"), all).missing, "cost of launching a collective");
  all.missing = "number of ranks";
  EXPECT_EQ(estimate(kChip, all).missing, "number of ranks");
}

}  // namespace
}  // namespace npu::profile
