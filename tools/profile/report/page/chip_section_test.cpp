// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/chip_section.h"

#include <gtest/gtest.h>

#include <limits>

#include "tools/profile/report/fact/recorded_fixture.h"
#include "tools/profile/report/page/html.h"
#include "tools/profile/report/page/roofline.h"

namespace npu::profile {
namespace {

class ChipPage : public ::testing::Test {
 protected:
  void SetUp() override {
    TaskRecord& task = run.task("<b>MatMulV2", 0, 100, 0, Unit::kCube);
    task.inputs = run.text("1024,1024;1024,1024|FLOAT16;FLOAT16|ND;ND");
    task.outputs = run.text("1024,1024|FLOAT16|ND"), task.bytes = 6 << 20;
  }
  std::vector<Modelled> models(const std::vector<std::string>& names) {
    traces = {run.trace}, all = facts_of(traces);
    return modelled(all, names);
  }
  static size_t count(const std::string& text, std::string_view part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }

  Recorded run;
  std::vector<Trace> traces;
  std::vector<Facts> all;
};

TEST_F(ChipPage, SaysThatItIsModelled) {
  const std::string text = text_of(chip_section(models({"910B3", "910A"}).front()));
  for (const char* part : {"CHIP TIME of NPU 0, process 77: modelled, not measured", "Ascend910B3 ms", "Ascend910A ms",
                           "<b>MatMulV2                                     1        0.100          0.013 cube",
                           "all streams", "cube rate of float16 313 TFLOPS (stated)", "soc.tsv", "supposed:"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

TEST_F(ChipPage, SaysWhatIsMissing) {
  run.trace.tasks[0][0].inputs = run.text("1024,1024;1024,1024|DOUBLE;DOUBLE|ND;ND");
  const std::string text = text_of(chip_section(models({"910B3", "310P3"}).front()));
  for (const char* part : {"no number", "left out of Ascend910B3: cube rate of DOUBLE, 1 operator",
                           "Ascend310P3: no model: no public number was found for"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  run.trace.tasks[0][0].inputs = run.trace.tasks[0][0].outputs = 0;
  EXPECT_NE(text_of(chip_section(models({"910B3"}).front())).find("no model: the records have no shapes"),
            std::string::npos);
}

TEST_F(ChipPage, OfSeveralDevicesTheLastSaysWhatIsSupposed) {
  std::vector<Modelled> found = models({"910B3"});
  found.push_back(found.front());
  const std::string text = chip_text(found);
  EXPECT_EQ(count(text, "CHIP TIME"), 2u);
  EXPECT_EQ(count(text, "cube rate of float16 313"), 1u);
  EXPECT_EQ(count(chip_html(found), "<svg"), 2u);
}

TEST_F(ChipPage, HtmlHasAPictureOfEachChipAndLeadsNowhere) {
  const std::vector<Modelled> found = models({"910B3", "910A"});
  const std::string page = html_page(traces, all, findings_of(all), found);
  EXPECT_EQ(count(page, "<svg"), 2u);
  EXPECT_EQ(count(page, "<circle"), 2u);
  EXPECT_EQ(page.find("<b>MatMulV2"), std::string::npos);
  for (const char* way_out : {"http", "src=", "url("}) EXPECT_EQ(page.find(way_out), std::string::npos) << way_out;
}

TEST_F(ChipPage, PointsLieUnderTheRoofs) {
  const std::string picture = rooflines_of(models({"910B3"}).front());
  // 2 * 2^30 operations on 6 * 2^20 bytes in 13.2 us
  EXPECT_NE(picture.find("341 operations a byte, 163 TFLOPS, 100.0 % of the time"), std::string::npos) << picture;
  EXPECT_EQ(count(picture, "class=\"roof\""), 4u);
  EXPECT_EQ(count(rooflines_of(models({"910A"}).front()), "class=\"roof\""), 2u);  // no bfloat16, no float32 products
}

TEST_F(ChipPage, AnythingHasAPlaceInThePicture) {
  std::vector<Modelled> found = models({"910B3"});
  Line& line = found[0].types[0];
  line.bytes = 1e-9;
  EXPECT_EQ(count(rooflines_of(found[0]), "<circle"), 1u);
  line.cells[0].time = std::numeric_limits<double>::max();
  EXPECT_EQ(rooflines_of(found[0]).find("nan"), std::string::npos);
  line.bytes = 0;
  EXPECT_EQ(rooflines_of(found[0]), "");
}

}  // namespace
}  // namespace npu::profile
