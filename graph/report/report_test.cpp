// SPDX-License-Identifier: Apache-2.0

#include "graph/report/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "graph/dump/watched_library.h"
#include "graph/graph_fixture.h"
#include "graph/run/executable.h"

namespace npu::graph {
namespace {

/// A function with one node that only the client can run.
std::unique_ptr<WatchedLibrary> library_of_one() {
  TestFunction f("f");
  const Edge x = f.argument("x"), n = f.argument("n", ValueType::tensor(DType::kInt32));
  f.result(f.node("Tile", {f.node("Mystery", {x}), n}));
  const auto host = [](const Node&, std::span<const Value> in) { return std::vector<Value>{in[0]}; };
  auto library = std::make_unique<WatchedLibrary>(0, host);
  Program program;
  program.add(f.function());
  library->add(program);
  return library;
}

std::vector<Value> run(Library& library, int64_t size, int32_t times) {
  std::vector<float> numbers(static_cast<size_t>(size), 1);
  return library.get("f", Role::kRoot)
      ->run({value_of<float>({size}, std::move(numbers)), value_of<int32_t>({1}, {times})});
}

TEST(Report, TellsWhatEachFunctionCost) {
  const auto library = library_of_one();
  run(*library, 4, 2);
  run(*library, 4, 2);
  const auto report = Json::parse(library->report().json())["functions"][0];
  EXPECT_EQ(report["name"], "f");
  EXPECT_EQ(report["nodes"], 2);
  EXPECT_EQ(report["native_nodes"], 1);
  EXPECT_EQ(report["host_nodes"], 1);
  EXPECT_EQ(report["host"][0]["runs"], 2);
  EXPECT_EQ(report["host"][0]["bytes"], 2 * 2 * 16);
  EXPECT_EQ(report["recompiles"], 0);
  EXPECT_GE(report["peak_bytes"].get<int64_t>(), report["live_bytes"].get<int64_t>());
}

TEST(Report, CountsAssertionsThatTheClientIsAskedAbout) {
  TestFunction f("f");
  const Edge condition = f.argument("condition", ValueType::tensor(DType::kBool)), x = f.argument("x");
  f.must_run(f.node("Assert", {condition, x}, {}, 0)).result(x);
  WatchedLibrary library(0, [](const Node& node, std::span<const Value>) -> std::vector<Value> {
    fail(Code::kNnInvalidParam, "{} says no", node.op);
  });
  Program program;
  program.add(f.function());
  library.add(program);
  const auto assertion = [&](bool holds) {
    Value condition = value_of<uint8_t>({}, {holds});
    condition.tensor.dtype = DType::kBool;
    library.get("f", Role::kRoot)->run({condition, value_of<float>({4}, {1, 2, 3, 4})});
  };
  const auto told = [&] { return Json::parse(library.report().json())["functions"][0]; };
  assertion(true);
  EXPECT_EQ(told()["host_nodes"], 0);
  EXPECT_THROW(assertion(false), Error);
  EXPECT_EQ(told()["host_nodes"], 1);
  EXPECT_EQ(told()["host"][0]["op"], "Assert");
  EXPECT_EQ(told()["host"][0]["runs"], 1);
  EXPECT_EQ(told()["host"][0]["bytes"], 1 + 16);
}

TEST(Report, TellsWhyAFunctionIsCompiledAgain) {
  const auto library = library_of_one();
  std::vector<std::string> causes;
  library->report().watch([&](const Compiled& one) {
    EXPECT_EQ(one.function, "f");
    EXPECT_EQ(one.graph, 1);
    EXPECT_EQ(one.host_nodes, causes.empty() ? 1 : one.host_nodes);
    causes.push_back(one.cause);
  });
  run(*library, 4, 2);
  run(*library, 3, 2);
  ASSERT_GE(causes.size(), 2u);
  EXPECT_EQ(causes[0], "");
  EXPECT_EQ(causes[1], "argument x was float32[4] and is float32[3]");
  const std::string text = library->report().text();
  EXPECT_NE(text.find("argument x was float32[4] and is float32[3]"), text.npos) << text;
  EXPECT_NE(text.find("on the host: Mystery, 2 runs"), text.npos) << text;
}

TEST(Report, AValueThatDecidesAboutShapesIsACause) {
  TestFunction f("f");
  const Edge x = f.argument("x"), n = f.argument("n", ValueType::tensor(DType::kInt32));
  f.result(f.node("Tile", {x, n}));
  WatchedLibrary library(0);
  Program program;
  program.add(f.function());
  library.add(program);
  run(library, 4, 2);
  run(library, 4, 3);
  const auto report = Json::parse(library.report().json())["functions"][0];
  ASSERT_EQ(report["causes"].size(), 1u);
  EXPECT_EQ(report["causes"][0], "argument n was int32[1][2] and is int32[1][3]");
}

TEST(Report, TheOldestCausesGo) {
  const auto library = library_of_one();
  for (int64_t size = 1; size <= 40; ++size) run(*library, size, 1);
  const auto report = Json::parse(library->report().json())["functions"][0];
  EXPECT_GE(report["recompiles"].get<int>(), 39);
  EXPECT_EQ(report["causes"].size(), 8u);
}

TEST(Report, GoesWhereItIsSent) {
  const auto report = std::make_shared<Report>(3);
  Function f("g\xff", tensorflow::dialect());
  report->met(f, Role::kRoot);
  report->planned({f, Role::kRoot, false, Plan{}, 1.5, ""});
  const auto folder = std::filesystem::temp_directory_path();
  const std::string json = (folder / fmt::format("anynpu_report_{}.json", getpid())).string();
  const std::string text = (folder / fmt::format("anynpu_report_{}.txt", getpid())).string();
  write_reports(json, {report, report});
  write_reports(text, {report});
  EXPECT_EQ(Json::parse(whole_file(json).value())["functions"].size(), 2u);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(std::ifstream(text).rdbuf()), {}).substr(0, 19),
            "NPU 3: 1 function\nf");
  std::filesystem::remove(json), std::filesystem::remove(text);
  testing::internal::CaptureStderr();
  write_reports("/nowhere/report.json", {report});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "anynpu: no report can be written to /nowhere/report.json\n");
}

}  // namespace
}  // namespace npu::graph
