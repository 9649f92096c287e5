// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/step_part.h"

#include <gtest/gtest.h>

#include "tools/profile/report/fact/recorded_fixture.h"

namespace npu::profile {
namespace {

/// A forward and a backward pass of 10 us each and a step of the optimizer, from `time` on; `wait` before it.
void add_step(Recorded& run, int64_t time, int64_t forward = 10) {
  run.module("net", time);
  run.task("Mm", time, time + forward);
  run.module("net", time + forward, Phase::kGradient);
  run.task("MmGrad", time + forward, time + forward + 10);
  run.module("Adam.step", time + forward + 10, Phase::kStep);
  run.task("Apply", time + forward + 12, time + forward + 20, time + forward + 11);
  run.module("", time + forward + 20);
}

TEST(StepPart, FromOneStepOfTheOptimizerToTheNext) {
  Recorded run;
  run.module("", 0);
  run.task("Cast", 1, 2);  // what the program begins with is of no step
  add_step(run, 100);
  add_step(run, 200);
  add_step(run, 300, 60);
  run.task("Mm", 500, 510);  // after the last one
  const std::vector<Trace> traces{run.trace};
  const Facts facts = facts_of(traces).front();
  ASSERT_EQ(facts.steps.size(), 3u);
  EXPECT_EQ(facts.steps[1].forward, 200'000);
  EXPECT_EQ(facts.steps[1].backward, 220'000);
  EXPECT_EQ(facts.steps[1].end, 230'000);
  ASSERT_EQ(facts.step_parts.size(), 3u);
  const StepPart& second = facts.step_parts[1];
  EXPECT_EQ(second.length(), 100'000);
  EXPECT_EQ(second.computing, 28'000);
  EXPECT_EQ(second.idle, 72'000);
  EXPECT_EQ(second.copies, 0);
  EXPECT_EQ(slowest_of(facts.step_parts).number, 3u);
  EXPECT_EQ(median_of(facts.step_parts).number, 2u);
  const std::vector<More> more =
      more_in(run.trace, facts.tasks, facts.idle, facts.step_parts[2].when, facts.step_parts[1].when);
  ASSERT_EQ(more.size(), 1u);
  EXPECT_EQ(more[0].what, "Mm");
  EXPECT_EQ(more[0].time, 50'000);
}

TEST(StepPart, WhatALoaderKeepsWaitingIsInItsStep) {
  Recorded run;
  for (int64_t time : {0, 100, 200, 1000}) add_step(run, time);
  const std::vector<Trace> traces{run.trace};
  const Facts facts = facts_of(traces).front();
  const StepPart& slow = slowest_of(facts.step_parts);
  EXPECT_EQ(slow.number, 4u);
  EXPECT_EQ(slow.length(), 800'000);
  const std::vector<More> more =
      more_in(run.trace, facts.tasks, facts.idle, slow.when, median_of(facts.step_parts).when);
  ASSERT_FALSE(more.empty());
  EXPECT_EQ(more[0].what, "idle: host calls nothing (batches are made, other Python)");
  EXPECT_EQ(more[0].time, 770'000);
}

TEST(StepPart, TheFirstOptimizerCounts) {
  Recorded run;
  for (int64_t time : {0, 100}) {
    add_step(run, time);
    run.module("SGD.step", time + 40, Phase::kStep);
    run.task("Apply", time + 40, time + 45);
    run.module("", time + 45);
  }
  const std::vector<Trace> traces{run.trace};
  EXPECT_EQ(facts_of(traces).front().steps.size(), 2u);
}

}  // namespace
}  // namespace npu::profile
