// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/idle.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tools/profile/report/fact/recorded_fixture.h"

namespace npu::profile {
namespace {

/// Microseconds by cause.
int64_t us(const Idle& idle, Cause cause) { return idle.parts[cause] / 1000; }

Idle idle_of(const Recorded& run) {
  const std::vector<Trace> traces{run.trace};
  return facts_of(traces).front().idle;
}

TEST(Idle, AHostThatCallsNothing) {
  Recorded run;
  run.task("Mm", 0, 100);
  run.call("aclnnMm", 5100, 5110, Level::kOperator);
  run.task("Mm", 5110, 5200);
  const Idle idle = idle_of(run);
  EXPECT_EQ(us(idle, Cause::kPause), 5000);
  EXPECT_EQ(us(idle, Cause::kQueue), 10);
  EXPECT_EQ(idle.gaps.front().pause, (Interval{100'000, 5'100'000}));
}

TEST(Idle, AShortSilenceIsQueueing) {
  Recorded run;
  run.task("Mm", 0, 100);
  run.task("Mm", 390, 400);
  EXPECT_EQ(us(idle_of(run), Cause::kQueue), 290);
}

TEST(Idle, WhatIsQueuedBeforeTheDeviceIsFreeStartsLate) {
  Recorded run;
  run.task("Mm", 0, 100);
  run.task("Mm", 130, 200, 20);
  run.task("Mm", 250, 300, 210);
  const Idle idle = idle_of(run);
  EXPECT_EQ(us(idle, Cause::kStart), 30 + 40);
  EXPECT_EQ(us(idle, Cause::kQueue), 10);
}

/// The host could have come as much earlier as it had waited, not more.
TEST(Idle, AWaitIsToBlameForAsMuchAsItTook) {
  Recorded run;
  run.task("Mm", 0, 100);
  run.call("aclrtSynchronizeStream", 40, 105);
  run.task("Mm", 145, 200, 140);
  run.task("Mm", 290, 300);
  const Idle idle = idle_of(run);
  EXPECT_EQ(us(idle, Cause::kWait), 60 + 5);  // and until it returned
  EXPECT_EQ(us(idle, Cause::kQueue) + us(idle, Cause::kStart), 45 + 90 - 65);
}

TEST(Idle, WhatIsQueuedIsNotDueToTheWait) {
  Recorded run;
  run.call("aclrtSynchronizeStream", 10, 1000);
  run.task("Mm", 0, 100);
  run.task("Mm", 130, 200, 5);
  run.task("Mm", 240, 300, 6);
  const Idle idle = idle_of(run);
  EXPECT_EQ(us(idle, Cause::kStart), 30 + 40);
  EXPECT_EQ(us(idle, Cause::kWait), 0);
}

TEST(Idle, AWaitLongAgoIsNotToBlame) {
  Recorded run;
  run.task("Mm", 0, 5000);
  run.call("aclrtSynchronizeStream", 0, 5000);
  run.task("Mm", 5001, 9000);
  run.call("aclrtSynchronizeStream", 8990, 9000);
  run.task("Mm", 13000, 13100);
  EXPECT_EQ(us(idle_of(run), Cause::kWait), 1 + 10);
}

TEST(Idle, CopiesOfTheHostAndOfStreams) {
  Recorded run;
  run.task("Mm", 0, 100);
  run.call("aclrtMemcpy", 110, 150);
  run.task("Mm", 150, 200);
  run.task("memcpy", 210, 250, Recorded::kLongAgo, Unit::kNone);
  run.task("event wait", 250, 280, Recorded::kLongAgo, Unit::kNone);
  run.task("Mm", 300, 310, Recorded::kLongAgo);
  const Idle idle = idle_of(run);
  EXPECT_EQ(us(idle, Cause::kCopy), 40);
  EXPECT_EQ(us(idle, Cause::kStart), 10 + 50);
}

TEST(Idle, CopiesBeforeAndAfterAllOperatorsDoNotCount) {
  Recorded run;
  run.task("memcpy", 0, 10, -1, Unit::kNone);
  run.task("Mm", 5000, 5100);
  run.task("memcpy", 9000, 9010, -1, Unit::kNone);
  EXPECT_TRUE(idle_of(run).gaps.empty());
  Recorded copies;
  copies.task("memcpy", 0, 10, -1, Unit::kNone);
  EXPECT_TRUE(facts_of(std::vector<Trace>{copies.trace}).empty());
}

TEST(Idle, InsideOfAGraph) {
  Recorded run;
  const auto node = [&](int64_t start, int64_t end) {
    TaskRecord& task = run.task("MatMulV2", start, end);
    task.launched = 0, task.graph = run.text("__inference_step_7"), task.step = 2;
  };
  run.call("anynpu_library_run", 0, 700);
  node(10, 100);
  node(110, 200);
  run.work(HostWork::kNode, 210, 590, "__inference_step_7").type = run.text("AsString");
  node(600, 650);
  EXPECT_EQ(us(idle_of(run), Cause::kGraph), 10 + 20);
  EXPECT_EQ(us(idle_of(run), Cause::kHostNode), 380);
  // The next run needs a plan of its own, and waits for its data.
  run.call("anynpu_library_run", 700, 1000);
  run.work(HostWork::kPlan, 705, 800, "__inference_step_7");
  run.work(HostWork::kNode, 800, 850, "__inference_step_7").type = run.text("IteratorGetNextAsOptional");
  node(900, 990);
  const Idle idle = idle_of(run);
  EXPECT_EQ(us(idle, Cause::kCompile), 95);
  EXPECT_EQ(us(idle, Cause::kInput), 50);
  EXPECT_EQ(us(idle, Cause::kHostNode), 380);
  EXPECT_EQ(us(idle, Cause::kGraph), 10 + 20 + 50 + 5 + 50);
}

/// Nothing is lost or counted twice, whatever threads do at the same time.
TEST(Idle, CausesMakeUpTheIdleTime) {
  std::mt19937 random(11);
  const char* const names[] = {"aclrtMemcpy", "aclrtSynchronizeStream", "anynpu_library_run", "aclrtMalloc",
                               "anynpu_library_add"};
  for (int round = 0; round < 300; ++round) {
    Recorded run;
    int64_t time = 0;
    for (int i = 0; i < 12; ++i) {
      const auto start = static_cast<int64_t>(random() % 9000);
      run.call(names[random() % 5], start, start + static_cast<int64_t>(random() % 900));
      time += static_cast<int64_t>(random() % 800);
      run.task("Mm", time, time + static_cast<int64_t>(random() % 2000), static_cast<int64_t>(random() % 9000));
    }
    for (const HostWork kind : {HostWork::kPasses, HostWork::kPlan, HostWork::kNode}) {
      const auto start = static_cast<int64_t>(random() % 9000);
      run.work(kind, start, start + static_cast<int64_t>(random() % 900), "step");
    }
    std::ranges::sort(run.trace.calls, {}, &CallRecord::start);
    const std::vector<Trace> traces{run.trace};
    const Facts facts = facts_of(traces).front();
    const int64_t idle = std::accumulate(facts.idle.parts.begin(), facts.idle.parts.end(), int64_t{0});
    ASSERT_EQ(idle, length(facts.overlap.free)) << "round " << round;
    ASSERT_GE(std::ranges::min(facts.idle.parts), 0) << "round " << round;
  }
}

}  // namespace
}  // namespace npu::profile
