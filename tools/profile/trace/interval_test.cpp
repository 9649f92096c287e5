// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/trace/interval.h"

#include <gtest/gtest.h>

#include <random>

namespace npu::profile {
namespace {

TEST(Interval, Merges) {
  EXPECT_EQ(merged({{5, 7}, {1, 3}, {2, 4}, {7, 9}}), (Intervals{{1, 4}, {5, 9}}));
  EXPECT_EQ(merged({{1, 9}, {2, 3}}), (Intervals{{1, 9}}));
  EXPECT_TRUE(merged({}).empty());
}

TEST(Interval, TakesAway) {
  EXPECT_EQ(without({{0, 10}}, {{2, 4}, {6, 8}}), (Intervals{{0, 2}, {4, 6}, {8, 10}}));
  EXPECT_EQ(without({{0, 4}, {6, 9}}, {{3, 7}}), (Intervals{{0, 3}, {7, 9}}));
  EXPECT_TRUE(without({{1, 2}}, {{0, 3}}).empty());
  EXPECT_EQ(without({{1, 2}}, {}), (Intervals{{1, 2}}));
}

/// Every moment of a small clock is what its intervals say.
TEST(Interval, OverlapOfRandomTasks) {
  std::mt19937 random(7);
  const auto holds = [](const Intervals& all, int64_t time) {
    for (const Interval& one : all)
      if (one.start <= time && time < one.end) return true;
    return false;
  };
  for (int round = 0; round < 200; ++round) {
    Intervals computing, communication;
    for (int i = 0; i < 8; ++i) {
      const int64_t start = random() % 90, end = start + 1 + random() % 10;
      (random() % 2 == 0 ? computing : communication).push_back({start, end});
    }
    const Overlap found = overlap_of(computing, communication);
    int64_t first = 100, last = 0;
    for (const Intervals* all : {&computing, &communication})
      for (const Interval& one : *all) first = std::min(first, one.start), last = std::max(last, one.end);
    for (int64_t time = 0; time < 100; ++time) {
      const bool computes = holds(computing, time), talks = holds(communication, time);
      ASSERT_EQ(holds(found.computing, time), computes);
      ASSERT_EQ(holds(found.communication, time), talks);
      ASSERT_EQ(holds(found.communication_alone, time), talks && !computes);
      ASSERT_EQ(holds(found.free, time), !talks && !computes && time >= first && time < last);
    }
  }
}

}  // namespace
}  // namespace npu::profile
