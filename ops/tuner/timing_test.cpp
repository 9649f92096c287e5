// SPDX-License-Identifier: Apache-2.0
#include "ops/tuner/timing.h"

#include <gtest/gtest.h>

namespace npu::ops::tuning {
namespace {

double told_us = 0;

/// What is measured takes no time but moves the clock.
class Timing : public ::testing::Test {
 protected:
  void SetUp() override {
    use_clock([] { return told_us; });
  }
  void TearDown() override { use_clock(nullptr); }
  static void work(double microseconds) { told_us += microseconds; }
};

TEST_F(Timing, TheFasterOneWins) {
  int64_t calls = 0;
  const auto way = [&] { work(++calls % 2 == 0 ? 100 : 120); };
  const Comparison c = compare([] { work(300); }, way, {.rounds = 21, .least_us = 300});
  EXPECT_NEAR(c.ratio, 2.73, 0.3);
  EXPECT_DOUBLE_EQ(c.usual_us, 300);
  EXPECT_LE(c.low, c.ratio);
  EXPECT_GE(c.high, c.ratio);
  EXPECT_EQ(c.rounds, 2 * 21);
  EXPECT_TRUE(c.won());
}

TEST_F(Timing, NoiseOfTheUsualWayIsToldAndCounts) {
  double jitter = 1;
  const auto usual = [&] { work(100 * (jitter = jitter * 1.7 > 3 ? 1 : jitter * 1.7)); };
  const Comparison c = compare(usual, [] { work(90); }, {.rounds = 21, .least_us = 1});
  EXPECT_GT(c.noise, 0.3);
  EXPECT_GT(c.ratio, 1);
  EXPECT_FALSE(c.won());
}

TEST_F(Timing, TheSlowerOneIsGivenUpSoon) {
  const Comparison c = compare([] { work(100); }, [] { work(300); }, {.rounds = 1000, .least_us = 100});
  EXPECT_FALSE(c.won());
  EXPECT_LT(c.rounds, 10);
}

TEST_F(Timing, AWinMustBeMoreThanTheNoise) {
  EXPECT_TRUE((Comparison{.low = 1.1, .noise = 0.05}.won()));
  EXPECT_FALSE((Comparison{.low = 1.1, .noise = 0.15}.won()));
  EXPECT_FALSE((Comparison{.low = 1.02, .noise = 0.0}.won()));
}

// Whoever comes second may find what the first one has left in the caches.
TEST_F(Timing, AWinThatGoesWithTheRoleIsNone) {
  int64_t calls = 0;
  const auto first = [&] { work(++calls > 60 ? 80 : 100); };
  const auto second = [&] { work(calls > 60 ? 100 : 80); };
  const Comparison c = compare(first, second, {.rounds = 21, .least_us = 1});
  EXPECT_EQ(c.rounds, 42);
  EXPECT_FALSE(c.won());
}

TEST_F(Timing, ShortRunsAreRepeated) {
  int64_t usual = 0, way = 0;
  compare([&] { work(1), ++usual; }, [&] { work(1), ++way; }, {.rounds = 3, .least_us = 50});
  EXPECT_EQ(way, 1 + 3 * 50);
  EXPECT_EQ(usual, 2 + 2 * 3 * 50);
}

}  // namespace
}  // namespace npu::ops::tuning
