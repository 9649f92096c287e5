// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/stage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "graph/dump/watched_library.h"
#include "graph/graph_fixture.h"
#include "graph/run/executable.h"

namespace npu::graph {
namespace {

namespace fs = std::filesystem;

/// A folder of its own that is the current one, and an environment that is put back.
class Dumps : public testing::Test {
 protected:
  void SetUp() override {
    home_ = fs::current_path();
    folder_ = fs::temp_directory_path() / fmt::format("anynpu_dumps_{}", getpid());
    fs::create_directories(folder_);
    fs::current_path(folder_);
  }
  void TearDown() override {
    for (const char* name : {"NPU_DUMP_GRAPH", "DUMP_GE_GRAPH", "DUMP_GRAPH_LEVEL", "DUMP_GRAPH_PATH"}) unsetenv(name);
    reset_dumps();
    fs::current_path(home_);
    fs::remove_all(folder_);
  }
  void set(const char* name, const std::string& value) {
    setenv(name, value.c_str(), 1);
    reset_dumps();
  }
  /// Compiles and runs a function that runs another one as a branch, and an operator; gives the files written.
  std::set<std::string> run(const std::string& name = "f") {
    TestFunction outer(name), body("body");
    const Edge x = outer.argument("x");
    const Edge branch = outer.node("StatelessIf", {outer.constant<int32_t>({}, {1}), outer.node("Neg", {x})});
    outer.with(branch, "then_branch", FunctionName{"body"}).with(branch, "else_branch", FunctionName{"body"});
    outer.result(branch);
    body.result(body.node("Square", {body.argument("v")}));
    TestFunction op("operator 0");
    op.result(op.node("Exp", {op.argument("v")}));
    WatchedLibrary library(0);
    Program program;
    for (const TestFunction* one : {&outer, &body, &op}) program.add(one->function());
    library.add(program);
    const auto value = value_of<float>({2}, {4, 9});
    EXPECT_EQ(numbers_of<float>(library.get(name, Role::kRoot)->run({value})[0]), (std::vector<float>{16, 81}));
    library.get("operator 0", Role::kOperator)->run({value});
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (entry.is_regular_file()) files.insert(fs::relative(entry.path(), folder_).string());
    return files;
  }
  static size_t count(const std::set<std::string>& files, std::string_view part) {
    return static_cast<size_t>(
        std::count_if(files.begin(), files.end(), [&](const auto& file) { return file.find(part) != file.npos; }));
  }
  fs::path folder_, home_;
};

TEST_F(Dumps, NothingIsWrittenUnlessAskedFor) {
  reset_dumps();
  EXPECT_FALSE(StageFiles(nullptr, 0).wants_stages());
  EXPECT_TRUE(run().empty());
}

TEST_F(Dumps, FunctionsAreWrittenStageByStage) {
  set("NPU_DUMP_GRAPH", "true");
  const auto files = run();
  for (const char* file : {"f.0.PreRunBegin.pbtxt", "f.0.PreRunBegin.dot", "f.1.Build.pbtxt", "body.1.Build.dot"})
    EXPECT_TRUE(files.contains(file)) << file;
  EXPECT_EQ(count(files, "operator"), 0u);
}

TEST_F(Dumps, ModelsAreWrittenUnderTheVendorsNames) {
  set("DUMP_GE_GRAPH", "2");
  const auto files = run();
  EXPECT_TRUE(files.contains("ge_proto_00000_PreRunBegin.txt") && files.contains("ge_onnx_00000_PreRunBegin.pbtxt"));
  EXPECT_TRUE(files.contains("ge_proto_00001_Build.txt") && files.contains("ge_onnx_00001_Build.pbtxt"));
  EXPECT_EQ(files.size(), 4u) << "no sub-graphs, no operators";
  std::ifstream file("ge_proto_00001_Build.txt");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("graph {\n  name: \"body\""), text.npos);
  EXPECT_NE(text.find("shape {\n        dim: 2\n      }"), text.npos) << "Build knows the shapes";
}

TEST_F(Dumps, TheLevelChoosesGraphs) {
  set("DUMP_GE_GRAPH", "3");
  set("DUMP_GRAPH_LEVEL", "1");
  EXPECT_EQ(count(run(), "ge_proto"), 6u) << "root, body and operator, first and last stage each";
  fs::remove_all(folder_), fs::create_directories(folder_), fs::current_path(folder_);
  set("DUMP_GRAPH_LEVEL", "3");
  EXPECT_EQ(run(), (std::set<std::string>{"ge_proto_00000_Build.txt", "ge_onnx_00000_Build.pbtxt"}));
  fs::remove_all(folder_), fs::create_directories(folder_), fs::current_path(folder_);
  set("DUMP_GRAPH_LEVEL", "4");
  EXPECT_EQ(run(), (std::set<std::string>{"ge_proto_00000_PreRunBegin.txt", "ge_onnx_00000_PreRunBegin.pbtxt"}));
  fs::remove_all(folder_), fs::create_directories(folder_), fs::current_path(folder_);
  set("DUMP_GRAPH_LEVEL", "PreRun|nothing");
  EXPECT_EQ(count(run(), "ge_proto"), 2u) << "the first stage of root and body";
}

TEST_F(Dumps, EverNewShapesDoNotFillTheDisk) {
  set("DUMP_GE_GRAPH", "3");
  set("DUMP_GRAPH_LEVEL", "3");
  testing::internal::CaptureStderr();
  StageFiles files(nullptr, 0);
  for (int i = 0; i < 40; ++i) files.staged(kLastStage, Function("f", tensorflow::dialect()), {}, Role::kRoot);
  files.staged(kLastStage, Function("g", tensorflow::dialect()), {}, Role::kRoot);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_TRUE(fs::exists("ge_proto_00032_Build.txt") && !fs::exists("ge_proto_00033_Build.txt"));
}

TEST_F(Dumps, TheFolderIsMadeAndNamesStayInside) {
  set("NPU_DUMP_GRAPH", "1");
  set("DUMP_GRAPH_PATH", (folder_ / "deep/er").string());
  const auto files = run("../../a b/" + std::string(400, 'x'));
  EXPECT_GT(files.size(), 3u);
  for (const std::string& file : files) EXPECT_TRUE(file.starts_with(fmt::format("deep/er/{}_0/", getpid()))) << file;
}

TEST_F(Dumps, AFolderThatCannotBeIsReportedOnceAndTheCurrentOneTaken) {
  std::ofstream("file") << "in the way";
  set("DUMP_GE_GRAPH", "3");
  set("DUMP_GRAPH_PATH", (folder_ / "file").string());
  testing::internal::CaptureStderr();
  EXPECT_EQ(count(run(), "ge_proto"), 2u);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("DUMP_GRAPH_PATH"), said.npos);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST_F(Dumps, WrongValuesAreReportedOnce) {
  set("DUMP_GE_GRAPH", "7");
  testing::internal::CaptureStderr();
  EXPECT_TRUE(run().empty());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "anynpu: DUMP_GE_GRAPH=7 is none of 1, 2 and 3; no graph is dumped\n");
  set("DUMP_GE_GRAPH", "3");
  set("DUMP_GRAPH_LEVEL", "1|Build");
  testing::internal::CaptureStderr();
  EXPECT_EQ(count(run(), "ge_proto"), 2u);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

}  // namespace
}  // namespace npu::graph
