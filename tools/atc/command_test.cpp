// SPDX-License-Identifier: Apache-2.0
#include "tools/atc/command.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

namespace npu::atc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kText = R"(name: "model"
version: 1
graph {
  name: "step_1"
  op {
    name: "net/\"dense\"" type: "MatMulV2" id: 3 input: "x:0" input: "guard:-1"
    attr { key: "_datadump_original_op_names" value { list { s: "net/dense" s: "net/relu" } } }
    attr { key: "alpha" value { f: 0.25 } }
    attr { key: "bound" value { f: inf } }
    attr { key: "fused" value { b: true } }
    output_desc { dtype: DT_FLOAT16 shape { dim: 2 dim: -1 } layout: "ND" }
  }
}
)";

class Atc : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string text(std::string_view content) {
    const std::string path = folder_ / "ge_proto_00001_Build.txt";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    return path;
  }
  int refused(const std::vector<std::string>& arguments, const char* reason) {
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    const int code = run(arguments);
    EXPECT_NE(testing::internal::GetCapturedStderr().find(reason), std::string::npos);
    EXPECT_NE(testing::internal::GetCapturedStdout().find("ATC run failed"), std::string::npos);
    return code;
  }
  const fs::path folder_ = fs::temp_directory_path() / ("anynpu_atc_" + std::to_string(getpid()));
};

TEST_F(Atc, MakesJsonOfTheTextOfAGraph) {
  const std::string out = folder_ / "new" / "on.json";
  testing::internal::CaptureStdout();
  ASSERT_EQ(run({"--mode=5", "--om=" + text(kText), "--json", out}), 0);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("ATC run success\n"), std::string::npos);
  const auto json = nlohmann::json::parse(std::ifstream(out));
  EXPECT_EQ(json.at("name"), "model");
  const auto& op = json.at("graph").at(0).at("op").at(0);
  EXPECT_EQ(op.at("name"), "net/\"dense\"");
  EXPECT_EQ(op.at("id"), 3);
  EXPECT_EQ(op.at("input"), (std::vector<std::string>{"x:0", "guard:-1"}));
  EXPECT_EQ(op.at("attr").at(0).at("value").at("list").at("s").at(1), "net/relu");
  EXPECT_EQ(op.at("attr").at(1).at("value").at("f"), 0.25);
  EXPECT_EQ(op.at("attr").at(2).at("value").at("f"), "inf");
  EXPECT_EQ(op.at("attr").at(3).at("value").at("b"), true);
  EXPECT_EQ(op.at("output_desc").at(0).at("shape").at("dim"), (std::vector<int>{2, -1}));
  EXPECT_EQ(op.at("output_desc").at(0).at("dtype"), "DT_FLOAT16");
}

TEST_F(Atc, RefusesOtherModesWithWhatToDo) {
  for (const char* mode : {"0", "1", "3", "6", "30"})
    EXPECT_EQ(refused({std::string("--mode=") + mode, "--om=a.om", "--json=b"}, "not built"), 255) << mode;
  EXPECT_EQ(refused({"--mode=7"}, "--mode=7 is no mode"), 255);
  EXPECT_EQ(refused({"--model=a.onnx", "--framework=5"}, "--mode=0 (the default)"), 255);
}

TEST_F(Atc, RefusesWhatItCannotReadOrWrite) {
  const std::string good = text(kText);
  EXPECT_EQ(refused({"--mode=5", "--json=a"}, "--om is missing"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om=" + good}, "--json is missing"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om"}, "--om has no value"), 255);
  EXPECT_EQ(refused({"mode=5"}, "mode=5 is no option"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om=" + good, "--json=a", "--log=info"}, "--log has no meaning"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om=/nowhere/a.txt", "--json=a"}, "/nowhere/a.txt"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om=" + good, "--json=" + good + "/b.json"}, "choose another --json"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om=" + text("graph {\n op {\n"), "--json=a"}, "line 3"), 255);
  EXPECT_EQ(refused({"--mode=5", "--om=" + text("name: \"a\""), "--json=a"}, "it holds no graph"), 255);
  EXPECT_FALSE(fs::exists("a"));
}

TEST_F(Atc, AnyTextGivesJsonOrARefusal) {
  std::mt19937 random(18);
  const std::string out = folder_ / "fuzzed.json";
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 300; ++i) {
    std::string damaged(kText);
    for (int change = 0; change < 1 + i % 4; ++change) damaged[random() % damaged.size()] = static_cast<char>(random());
    const int code = run({"--mode=5", "--om=" + text(damaged), "--json=" + out});
    EXPECT_TRUE(code == 0 || code == 255);
    EXPECT_TRUE(code != 0 || nlohmann::json::accept(std::ifstream(out)));
  }
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace npu::atc
