// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/command.h"

#include "tools/profile/trace/collection_fixture.h"

namespace npu::profile {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::CaptureStdout;
using testing::internal::GetCapturedStderr;
using testing::internal::GetCapturedStdout;

class Report : public Collection {
 protected:
  void SetUp() override {
    Collection::SetUp();
    write_texts({"Add", "aclnnAdd_Add", "aclnnAdd"});
    const std::vector<TaskRecord> tasks{task(1'000'000, 2'000'000, Unit::kVector, 1, 2),
                                        task(9'000'000, 9'500'000, Unit::kVector, 1, 2)};
    write<TaskRecord>("device_0/data/anynpu.tasks", tasks);
    write<CallRecord>("host/data/anynpu.calls", {{kClock + 100, kClock + 300, 78, 3, Level::kOperator, 0},
                                                 {kClock + 8'000'000, kClock + 8'900'000, 78, 3, Level::kOperator, 0}});
  }
  static void refused(const std::vector<std::string>& arguments, const std::string& reason, int code = 1) {
    CaptureStderr();
    CaptureStdout();
    EXPECT_EQ(report(arguments), code);
    GetCapturedStdout();
    const std::string told = GetCapturedStderr();
    EXPECT_NE(told.find(reason), std::string::npos) << told;
  }
};

TEST_F(Report, ShowsAPage) {
  fs::create_directories(root / "PROF_of_another_kind/host");
  CaptureStdout();
  ASSERT_EQ(report({"show", root.string(), "--html", (root / "page.html").string()}), 0);
  const std::string page = GetCapturedStdout();
  for (const char* part : {" 1. the device waits for data", "TIME of NPU 0, process 77: 8.500 ms", "computes",
                           "AI_VECTOR_CORE", "  Add     ", "  aclnnAdd     "})
    EXPECT_NE(page.find(part), std::string::npos) << part << " is not in\n" << page;
  EXPECT_TRUE(read(root / "page.html").starts_with("<!DOCTYPE html>"));
}

TEST_F(Report, WhatADyingProcessLeftIsReadAsFarAsItGoes) {
  const std::string tasks = read(folder / "device_0/data/anynpu.tasks");
  write("device_0/data/anynpu.tasks", tasks.substr(0, tasks.size() - 5));
  const std::string texts = read(folder / "host/data/anynpu.texts");
  write("host/data/anynpu.texts", texts.substr(0, texts.size() - 3));
  CaptureStdout();
  ASSERT_EQ(report({"show", folder.string()}), 0);
  const std::string page = GetCapturedStdout();
  EXPECT_NE(page.find("TIME of NPU 0, process 77: 1.000 ms"), std::string::npos) << page;
  EXPECT_EQ(page.find("  aclnn "), std::string::npos) << page;  // half a name
}

TEST_F(Report, ModelsTheSocsThatAreAsked) {
  write_texts({"Add", "aclnnAdd_Add", "aclnnAdd", "4;4|FLOAT;FLOAT|ND;ND", "4|FLOAT|ND"});
  TaskRecord add = task(1'000'000, 2'000'000, Unit::kVector, 1, 2);
  add.inputs = 4, add.outputs = 5, add.bytes = 48;
  write<TaskRecord>("device_0/data/anynpu.tasks", {add});
  write("host/info.json", R"({"pid":"77","anynpu_format":1,"soc":"Ascend910B4"})");
  const auto page = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"show", root.string()};
    words.insert(words.end(), more.begin(), more.end());
    CaptureStdout();
    EXPECT_EQ(report(words), 0);
    return GetCapturedStdout();
  };
  EXPECT_NE(page({}).find("Ascend910B4 ms"), std::string::npos);  // the collection's own
  const std::string several = page({"--soc", "910B3,ascend910a"});
  EXPECT_NE(several.find("Ascend910B3 ms       Ascend910A ms"), std::string::npos) << several;
  EXPECT_EQ(several.find("Ascend910B4 ms"), std::string::npos);
  EXPECT_NE(page({"--soc", "910X"}).find("910X: no model"), std::string::npos);
}

TEST_F(Report, ComparesTwo) {
  CaptureStdout();
  ASSERT_EQ(report({"diff", root.string(), folder.string()}), 0);
  EXPECT_NE(GetCapturedStdout().find("B takes 8.500 ms, A 8.500 ms (+0.0 %)"), std::string::npos);
}

TEST_F(Report, RefusesWhatItCannotShow) {
  refused({"show", (root / "nowhere").string()}, "is no folder");
  refused({"show", (folder / "host").string()}, "holds no collection");
  refused({"diff", root.string(), (folder / "host").string()}, "holds no collection");
  refused({"show", root.string(), "--html", "/nowhere/page.html"}, "could not be written");
  refused({"show"}, "FOLDER", 2);
  refused({}, "subcommand", 2);
  write("device_0/data/anynpu.tasks", "");
  refused({"show", folder.string()}, "no operator ran on an NPU");
  write("host/info.json", "{");
  refused({"show", folder.string()}, "is no JSON object");
}

}  // namespace
}  // namespace npu::profile
