// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/steps.h"

#include <gtest/gtest.h>

#include "tools/profile/report/fact/recorded_fixture.h"

namespace npu::profile {
namespace {

size_t count(const std::string& text, std::string_view part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

Recorded steps(uint32_t all, uint32_t slow, int64_t more) {
  Recorded run;
  int64_t time = 0;
  for (uint32_t step = 0; step < all; ++step) {
    const int64_t length = step + 1 == slow ? 50 + more : 50;
    run.node("model/dense/<MatMul>", "<MatMulV2>", time, time + length, step);
    time += length + 50;
  }
  return run;
}

TEST(StepsPage, NamesTheSlowestAndWhatItDidMore) {
  const std::vector<Trace> traces{steps(9, 5, 200).trace};
  const Facts facts = facts_of(traces).front();
  EXPECT_EQ(steps_text(facts),
            "\nSTEPS: 9, 0.100 ms (median), 0.300 ms the longest (step 5)\n"
            "  step 5 took 0.200 ms more than the median (step 6): + 0.200 ms <MatMulV2>\n");
  const std::string page = steps_html(facts);
  EXPECT_NE(page.find("+ 0.200 ms &lt;MatMulV2&gt;"), std::string::npos) << page;
  EXPECT_NE(page.find("<title>step 5: 0.300 ms, computes 0.250 ms, idle 0.050 ms</title>"), std::string::npos) << page;
  EXPECT_EQ(count(page, "<title>"), 9u);
}

TEST(StepsPage, WhereAllAreAlikeNoneIsNamed) {
  const std::vector<Trace> traces{steps(9, 5, 2).trace};
  EXPECT_EQ(count(steps_text(facts_of(traces).front()), "\n"), 2u);
}

TEST(StepsPage, OfManyTheLongestAreShown) {
  const std::vector<Trace> traces{steps(1000, 777, 200).trace};
  const std::string page = steps_html(facts_of(traces).front());
  EXPECT_NE(page.find("Each bar is the longest of 5 steps."), std::string::npos);
  EXPECT_EQ(count(page, "<title>"), 200u);
  EXPECT_NE(page.find("<title>step 777: "), std::string::npos);
}

TEST(StepsPage, WithoutStepsThereIsNothing) {
  Recorded run;
  run.task("Mm", 0, 10);
  const std::vector<Trace> traces{run.trace};
  EXPECT_EQ(steps_text(facts_of(traces).front()) + steps_html(facts_of(traces).front()), "");
}

}  // namespace
}  // namespace npu::profile
