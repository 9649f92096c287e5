// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/html.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "tools/profile/report/fact/recorded_fixture.h"
#include "tools/profile/report/page/escape.h"

namespace npu::profile {
namespace {

std::string page_of(const Recorded& run) {
  const std::vector<Trace> traces{run.trace};
  const std::vector<Facts> all = facts_of(traces);
  return html_page(traces, all, findings_of(all));
}

TEST(Html, TextsOfTheRunAreNoMarkup) {
  Recorded run;
  run.task("</script><script>alert(1)</script>", 0, 10);
  run.task("a\xff&\"b\"", 500, 510);
  const std::string page = page_of(run);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.find("&lt;/script&gt;&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_NE(page.find("&amp;&quot;b&quot;"), std::string::npos);
}

TEST(Html, NeedsNothingElse) {
  Recorded run;
  run.task("Mm", 0, 10);
  const std::string page = page_of(run);
  for (const char* way_out : {"http", "src=", "@import", "url(", "fetch(", "import("})
    EXPECT_EQ(page.find(way_out), std::string::npos) << way_out;
}

TEST(Html, ItsDataIsJson) {
  Recorded run;
  run.task("<Mm>", 0, 10);
  run.task("Mm", 20, 30);
  const std::string page = page_of(run), begin = R"(<script type="application/json" id="data">)";
  const size_t at = page.find(begin) + begin.size();
  const auto data = Json::parse(page.substr(at, page.find("</script>", at) - at));
  EXPECT_EQ(data["names"][1], "<Mm>");
}

TEST(Html, Escapes) {
  EXPECT_EQ(escaped("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(inside_script("[\"<<\"]"), "[\"\\u003c\\u003c\"]");
}

}  // namespace
}  // namespace npu::profile
