// SPDX-License-Identifier: Apache-2.0
#include "graph/precision/policy_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/json.h"
#include "base/split.h"
#include "graph/ir/ir_type.h"

namespace npu::graph {
namespace {

namespace fs = std::filesystem;

/// A folder of configurations, with the table's lists for each SoC that is asked for.
class PolicyFile : public ::testing::Test {
 protected:
  PolicyFile() : config_(fs::path(::testing::TempDir()) / "policy_file") { fs::remove_all(config_); }
  ~PolicyFile() override { fs::remove_all(config_); }

  void write(const std::string& soc, const std::map<std::string, Json>& changes = {}) {
    Json root = Json::object();
    for (const OperatorPrecision& op : all_precision()) {
      if (op.dtypes.empty()) continue;
      for (const std::string_view name : split(ir_types(op.op), " ")) root[std::string(name)] = entry(op.list);
    }
    for (const auto& [name, value] : changes) root[name] = value;
    write_text(soc, root.dump());
  }
  void write_text(const std::string& soc, const std::string& text) {
    fs::create_directories(config_ / soc);
    std::ofstream(config_ / soc / fmt::format("aic-{}-ops-info.json", soc)) << text;
  }
  static Json entry(List list) {
    if (list == List::kWhite) return {{"precision_reduce", {{"flag", "true"}}}};
    if (list == List::kBlack) return {{"precision_reduce", {{"flag", "false"}}}};
    return Json::object();
  }
  EditedLists read(std::string_view name) const {
    const auto profiles = device::soc_profiles();
    return detail::edited_lists(config_, *std::ranges::find(profiles, name, &device::Soc::name));
  }

  fs::path config_;
};

TEST_F(PolicyFile, OfTheTableChangesNothing) {
  write("ascend910b"), write("Ascend910B1");
  EXPECT_TRUE(read("Ascend910B1").lists.empty());
  EXPECT_TRUE(detail::edited_lists("/nowhere", device::soc_profiles().front()).lists.empty());
}

TEST_F(PolicyFile, MovesTheOperatorsWhoseFlagWasEdited) {
  write("ascend910b", {{"MatMulV2", entry(List::kBlack)}, {"Relu", entry(List::kWhite)}});
  const EditedLists found = read("Ascend910B1");
  EXPECT_EQ(found.lists.size(), 2u);
  EXPECT_EQ(found.lists.at("MatMul"), List::kBlack);
  EXPECT_EQ(found.lists.at("Relu"), List::kWhite);
  EXPECT_TRUE(found.file.ends_with("/ascend910b/aic-ascend910b-ops-info.json"));
}

TEST_F(PolicyFile, WithoutAFlagWhatFeedsAnOperatorDecides) {
  write("ascend910b", {{"MatMulV2", Json::object()}});
  EXPECT_EQ(read("Ascend910B4").lists.at("MatMul"), List::kGray);
}

TEST_F(PolicyFile, TheSocsOwnDecidesBeforeItsFamilys) {
  write("ascend910b", {{"MatMulV2", entry(List::kBlack)}});
  write("Ascend910B1", {{"Relu", entry(List::kBlack)}});
  EXPECT_EQ(read("Ascend910B1").lists.at("Relu"), List::kBlack);
  EXPECT_EQ(read("Ascend910B1").lists.at("MatMul"), List::kBlack);
  EXPECT_FALSE(read("Ascend910B2").lists.contains("Relu"));
}

TEST_F(PolicyFile, OfAnotherFamilyChangesNothing) {
  write("ascend910", {{"MatMulV2", entry(List::kBlack)}});
  EXPECT_EQ(read("Ascend910A").lists.size(), 1u);
  EXPECT_TRUE(read("Ascend910B1").lists.empty());
  EXPECT_TRUE(read("Ascend310P3").lists.empty());
}

TEST_F(PolicyFile, WhatIsNoSuchFileIsRefusedByName) {
  const auto refused = [&](const std::string& text) -> std::string {
    write_text("ascend910b", text);
    try {
      read("Ascend910B1");
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_NE(refused("{").find("aic-ascend910b-ops-info.json is no JSON object"), std::string::npos);
  EXPECT_NE(refused("[]").find("is no JSON object"), std::string::npos);
  EXPECT_NE(refused(R"({"MatMulV2": {"precision_reduce": {"flag": "no"}}})").find(R"(of MatMulV2 is "no")"),
            std::string::npos);
  EXPECT_NE(refused(R"({"MatMulV2": {"precision_reduce": true}})").find("of MatMulV2 is missing"), std::string::npos);
  EXPECT_EQ(refused(R"({"MatMulV2": 7, "Foreign": {"precision_reduce": 1}})"), "");
}

}  // namespace
}  // namespace npu::graph
