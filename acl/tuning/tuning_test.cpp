// SPDX-License-Identifier: Apache-2.0
#include "anynpu/tuning.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "device/process/soc.h"
#include "ops/tuning/tuning_fixture.h"

namespace npu::acl {
namespace {

namespace tuning = ops::tuning;

class Tuning : public tuning::WithBanks {
 protected:
  void TearDown() override {
    anynpu_tuning_end();
    WithBanks::TearDown();
  }
  static void keep(const char* text, void* to) { static_cast<std::vector<std::string>*>(to)->emplace_back(text); }
  std::string bank(const std::string& name, const std::string& way, const std::string& cpu = tuning::cpu_name()) const {
    tuning::Bank made{"op", device::soc().name, cpu, {}};
    made.entries[{"conv_way", "forward n=1"}] = winner(way);
    const std::string file = folder / name;
    tuning::add_to_bank(file, made);
    return file;
  }

  std::vector<std::string> said;
};

TEST_F(Tuning, BeginsOnceAndEnds) {
  EXPECT_EQ(anynpu_tuning_running(), 0);
  ASSERT_EQ(anynpu_tuning_begin(2, folder.c_str(), nullptr, nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(anynpu_tuning_running(), 2);
  EXPECT_NE(anynpu_tuning_begin(1, folder.c_str(), nullptr, nullptr, nullptr), ACL_SUCCESS);
  anynpu_tuning_end();
  EXPECT_EQ(anynpu_tuning_running(), 0);
  size_t reports = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    reports += entry.path().filename().string().starts_with("aoe_result_opat_") ? 1 : 0;
  EXPECT_EQ(reports, 1u);
}

TEST_F(Tuning, JobsThatAreNoneAreRefused) {
  EXPECT_EQ(anynpu_tuning_begin(3, nullptr, nullptr, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(std::strstr(aclGetRecentErrMsg(), "3 is no job of tuning"), nullptr);
  EXPECT_EQ(anynpu_tuning_begin(4, nullptr, nullptr, nullptr, nullptr), 207000);
  EXPECT_NE(std::strstr(aclGetRecentErrMsg(), "gradient segments"), nullptr);
  EXPECT_EQ(anynpu_tuning_begin(1, (folder / "none").c_str(), nullptr, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(anynpu_tuning_begin(1, folder.c_str(), "[", nullptr, nullptr), 100006);
  EXPECT_EQ(anynpu_tuning_running(), 0);
}

TEST_F(Tuning, ConfigurationsTellWhatHasNoEffect) {
  ASSERT_EQ(anynpu_tuning_begin(1, folder.c_str(), R"({"feature": ["nonhomo_split"]})", keep, &said), ACL_SUCCESS);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("nonhomo_split"), std::string::npos);
}

TEST_F(Tuning, PointsAreListed) {
  anynpu_each_tuned(
      [](const char* name, const char*, const char* ways, void* to) {
        static_cast<std::vector<std::string>*>(to)->push_back(std::string(name) + ": " + ways);
      },
      &said);
  EXPECT_NE(std::ranges::find(said, "fused_node: whole,parts"), said.end());
}

TEST_F(Tuning, BanksAreReadMergedAndCompared) {
  const std::string a = bank("a.json", "tiled"), b = bank("b.json", "unfolded");
  ASSERT_EQ(anynpu_bank_read(a.c_str(), keep, &said), ACL_SUCCESS);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("\"way\":\"tiled\""), std::string::npos) << said[0];
  said.clear();
  ASSERT_EQ(anynpu_bank_differences(a.c_str(), b.c_str(), keep, &said), ACL_SUCCESS);
  EXPECT_EQ(said, (std::vector<std::string>{"conv_way for forward n=1: tiled (1.20x) | unfolded (1.20x)"}));
  size_t changed = 7;
  const std::string c = folder / "c.json";
  ASSERT_EQ(anynpu_bank_merge(c.c_str(), a.c_str(), &changed), ACL_SUCCESS);
  EXPECT_EQ(changed, 1u);
  said.clear();
  ASSERT_EQ(anynpu_bank_differences(a.c_str(), c.c_str(), keep, &said), ACL_SUCCESS);
  EXPECT_TRUE(said.empty());
}

TEST_F(Tuning, ABankIsVerified) {
  ASSERT_EQ(anynpu_bank_verify(bank("a.json", "tiled").c_str(), keep, &said), ACL_SUCCESS);
  EXPECT_TRUE(said.empty());
  ASSERT_EQ(anynpu_bank_verify(bank("b.json", "no way", "elsewhere").c_str(), keep, &said), ACL_SUCCESS);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_NE(said[0].find("it is of CPU elsewhere"), std::string::npos);
  EXPECT_NE(said[1].find("no way no way"), std::string::npos);
  EXPECT_EQ(anynpu_bank_verify((folder / "none").c_str(), keep, &said), 100003);
}

TEST_F(Tuning, TheBankOfAJobIsNamed) {
  ASSERT_EQ(anynpu_bank_file(1, keep, &said), ACL_SUCCESS);
  EXPECT_TRUE(said[0].starts_with((folder / "custom" / "graph").string())) << said[0];
  EXPECT_EQ(anynpu_bank_file(0, keep, &said), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
}  // namespace npu::acl
