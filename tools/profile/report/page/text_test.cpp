// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/text.h"

#include <gtest/gtest.h>

#include "tools/profile/report/fact/recorded_fixture.h"

namespace npu::profile {
namespace {

std::string page_of(const Recorded& run) {
  const std::vector<Trace> traces{run.trace};
  const std::vector<Facts> all = facts_of(traces);
  return text_page(all, findings_of(all));
}
#define EXPECT_PART(page, part) EXPECT_NE((page).find(part), std::string::npos) << (page)

TEST(Text, StepsOfEachDevice) {
  Recorded run;
  const auto add = [&](uint32_t step, int64_t length) {
    TaskRecord& task = run.task("MatMulV2", 100 + step * 100, 100 + step * 100 + length);
    task.graph = run.text("step"), task.step = step, task.stream = 0, task.device = run.device;
  };
  add(0, 52), add(1, 50), add(2, 51);
  run.device = 1;
  add(0, 30), add(1, 20);
  const std::string page = page_of(run);
  EXPECT_PART(page, "STEPS: 3, 0.098 ms (median), 0.101 ms the longest (step 3)\n");
  EXPECT_PART(page, "STEPS: 2, ");
}

TEST(Text, CompilingAndWhy) {
  Recorded run;
  run.task("Mm", 0, 10);
  for (int64_t i = 0; i < 3; ++i)
    run.work(HostWork::kPlan, 20 + i * 10, 25 + i * 10, "__inference_step_7").need =
        i == 0 ? Need::kFirst : Need::kShapes;
  run.work(HostWork::kNode, 60, 62, "__inference_step_7").type = run.text("AsString");
  const std::string page = page_of(run);
  EXPECT_PART(page, "\n  step                                 other shapes           2        0.010");
  EXPECT_PART(page, "\n  step                                 first time             1        0.005");
  EXPECT_PART(page, "\n  AsString                                                    1        0.002");
}

TEST(Text, NoSectionIsEmpty) {
  Recorded run;
  run.task("Mm", 0, 10);
  const std::string page = page_of(run);
  for (const char* head : {"STEPS", "MEMORY", "RANKS", "CALLS", "STREAMS", "COMPILED", "NODES"})
    EXPECT_EQ(page.find(head), std::string::npos) << page;
}

}  // namespace
}  // namespace npu::profile
