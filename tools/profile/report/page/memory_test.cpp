// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/memory.h"

#include <gtest/gtest.h>

#include "tools/profile/report/fact/recorded_fixture.h"

namespace npu::profile {
namespace {

struct Remembered : Recorded {
  void memory(int64_t time, uint64_t address, uint64_t bytes, bool is_free, uint64_t used) {
    MemoryRecord made;
    made.start = made.end = time * 1000, made.address = address, made.bytes = bytes, made.is_free = is_free;
    made.used = used, made.thread = 1;
    trace.memory.push_back(made);
  }
};

TEST(Memory, ThePeakHasItsHolders) {
  Remembered run;
  run.task("Mm", 100, 200);
  run.memory(10, 1, 4'000'000, false, 5'000'000);  // a million was held before
  run.call("aclnnMm", 12, 20, Level::kWorkspace);
  run.memory(30, 2, 2'000'000, false, 7'000'000);
  run.call("aclnnRelu", 32, 40, Level::kWorkspace);
  run.memory(50, 2, 2'000'000, true, 5'000'000);
  run.memory(60, 3, 1'000'000, false, 6'000'000);
  const MemoryUse use = memory_of(run.trace, 0);
  EXPECT_EQ(use.peak, 7'000'000u);
  EXPECT_EQ(use.at, 30'000);
  ASSERT_EQ(use.holders.size(), 3u);
  EXPECT_EQ(use.holders[0].name, "aclnnMm");
  EXPECT_EQ(use.holders[1].name, "aclnnRelu");
  EXPECT_EQ(use.holders[1].bytes, 2'000'000u);
  EXPECT_EQ(use.holders[2].bytes, 1'000'000u);
  EXPECT_EQ(use.holders[2].blocks, 0u);
  EXPECT_TRUE(memory_of(run.trace, 1).points.empty());
}

TEST(Memory, WhatNoOperatorFollowsIsNobodys) {
  Remembered run;
  run.task("Mm", 0, 10);
  run.memory(1, 1, 100, false, 100);
  run.call("aclnnMm", 90'000, 90'001, Level::kWorkspace);
  ASSERT_EQ(memory_of(run.trace, 0).holders.size(), 1u);
  EXPECT_EQ(memory_of(run.trace, 0).holders[0].name, "no operator soon after");
}

TEST(Memory, PagesShowItWhereItWasRecorded) {
  Remembered run;
  run.task("Mm", 0, 10'000);
  const std::vector<Trace> without{run.trace};
  EXPECT_EQ(memory_text(facts_of(without).at(0)), "");
  EXPECT_EQ(memory_html(facts_of(without).at(0)), "");
  run.memory(1'500, 1, 42'000'000, false, 42'000'000);
  const std::vector<Trace> traces{run.trace};
  const Facts facts = facts_of(traces).at(0);
  EXPECT_NE(memory_text(facts).find("MEMORY of NPU 0, process 77: at most 42.0 MB, 1.500 ms after"), std::string::npos)
      << memory_text(facts);
  EXPECT_NE(memory_html(facts).find("L135.0,120.0 L135.0,0.0 "), std::string::npos) << memory_html(facts);
}

TEST(Memory, APictureHasNoRoomForAHundredThousandPoints) {
  Remembered run;
  run.task("Mm", 0, 100'000);
  for (int64_t i = 0; i < 100'000; ++i) run.memory(i, 1, 1'000'000, i % 2 != 0, i == 77'777 ? 9'000'000 : 1'000'000);
  const std::vector<Trace> traces{run.trace};
  const std::string page = memory_html(facts_of(traces).at(0));
  EXPECT_LT(page.size(), 100'000u);
  EXPECT_NE(page.find(",0.0 L"), std::string::npos);  // the peak is among those that are drawn
}

}  // namespace
}  // namespace npu::profile
