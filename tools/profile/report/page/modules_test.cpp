// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/modules.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "tools/profile/report/fact/recorded_fixture.h"
#include "tools/profile/report/page/html.h"

namespace npu::profile {
namespace {

Recorded network() {
  Recorded run;
  run.module("net.<fc>", 0);
  run.task("Mm", 0, 60);
  run.module("net.act", 60);
  run.task("Relu", 60, 90);
  run.module("", 90);
  run.task("Loss", 90, 100);
  return run;
}

TEST(ModulesPage, ATableOfWhatEachAsksForItself) {
  const std::vector<Trace> traces{network().trace};
  EXPECT_EQ(
      modules_text(facts_of(traces).front()),
      "\n"
      "MODULES, each without those inside                    operators           ms    share of it gradient\n"
      "  net.<fc>                                                    1        0.060   60.0 %          0.000\n"
      "  net.act                                                     1        0.030   30.0 %          0.000\n"
      "  (outside of modules)                                        1        0.010   10.0 %          0.000\n"
      "  90.0 % of the time of all streams is of modules, optimizers or collectives, 10.0 % is outside of them, of "
      "0.0 % the module is not known. Outside of graphs an operator belongs to the innermost module that its "
      "thread was in when it asked for it, its gradient to the same; in graphs to the scope of its name.\n");
}

TEST(ModulesPage, OfALongNameTheEndIsShown) {
  Recorded run;
  run.module(std::string(60, 'x') + ".attention", 0);
  run.task("Mm", 0, 60);
  const std::vector<Trace> traces{run.trace};
  EXPECT_NE(
      modules_text(facts_of(traces).front()).find("\n  ..." + std::string(33, 'x') + ".attention              1 "),
      std::string::npos);
}

TEST(ModulesPage, TheFlameGraphIsTheTree) {
  const std::vector<Trace> traces{network().trace};
  const Json flame = flame_of(facts_of(traces).front());
  EXPECT_EQ(flame["name"], "NPU 0, process 77");
  EXPECT_EQ(flame["time"], 100'000);
  EXPECT_EQ(flame["inside"][0]["inside"][0]["name"], "<fc>");
  EXPECT_EQ(flame["inside"][0]["inside"][0]["inside"][0]["inside"][0]["name"], "Mm");
  EXPECT_EQ(flame["inside"][1]["name"], "(outside of modules)");
}

TEST(ModulesPage, WhatIsTooSmallStandsTogether) {
  Recorded run = network();
  run.module("net.act", 100'000);
  run.task("Mm", 100'000, 900'000);
  run.task("Tiny", 900'000, 900'001);
  const std::vector<Trace> traces{run.trace};
  const Json flame = flame_of(facts_of(traces).front());
  ASSERT_EQ(flame["inside"].size(), 2u);
  EXPECT_EQ(flame["inside"][1]["name"], "1 too small to be seen");
  EXPECT_EQ(flame["inside"][1]["time"], 10'000);
}

TEST(ModulesPage, EachDeviceHasItsFlameGraph) {
  Recorded run = network();
  run.device = 1;
  run.task("Mm", 0, 10);
  Recorded without(78);
  without.task("Mm", 0, 10);
  const std::vector<Trace> traces{run.trace, without.trace};
  const std::vector<Facts> all = facts_of(traces);
  const std::string page = html_page(traces, all, {});
  size_t places = 0;
  for (size_t at = 0; (at = page.find("class=\"flame\"", at)) != std::string::npos; ++at) ++places;
  EXPECT_EQ(places, 2u);
  EXPECT_EQ(page.find("net.<fc>"), std::string::npos);
  EXPECT_NE(page.find("net.&lt;fc&gt;"), std::string::npos);
  const std::string begin = R"(<script type="application/json" id="data">)";
  const size_t at = page.find(begin) + begin.size();
  EXPECT_EQ(Json::parse(page.substr(at, page.find("</script>", at) - at))["flames"].size(), 2u);
}

}  // namespace
}  // namespace npu::profile
