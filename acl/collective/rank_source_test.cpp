// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "acl/include/anynpu/collective.h"
#include "acl/include/hccl/hccl_types.h"

namespace npu::acl {
namespace {

std::string written(const std::string& text) {
  const std::string path = testing::TempDir() + "/rank_table.json";
  std::ofstream(path) << text;
  return path;
}

std::vector<std::string> pods(const std::string& path, int32_t* result) {
  std::vector<std::string> out;
  *result = anynpu_each_table_rank(
      path.c_str(),
      [](const anynpu_table_rank* rank, void* context) {
        auto& all = *static_cast<std::vector<std::string>*>(context);
        EXPECT_EQ(rank->rank, static_cast<int32_t>(all.size()));
        all.push_back(std::string(rank->pod) + "@" + rank->server + ":" + std::to_string(rank->device));
      },
      &out);
  return out;
}

TEST(RankSourceDoor, ATableTellsItsRanksInOrder) {
  const std::string path = written(R"({"status": "completed", "group_list": [{"instance_list": [
      {"pod_name": "b", "server_id": "s", "devices": [{"device_id": "5"}, {"device_id": "4"}]}]}]})");
  int32_t result = -1;
  EXPECT_EQ(pods(path, &result), (std::vector<std::string>{"b@s:4", "b@s:5"}));
  EXPECT_EQ(result, HCCL_SUCCESS);
}

TEST(RankSourceDoor, AWrongTableIsRefused) {
  int32_t result = 0;
  EXPECT_TRUE(pods(written("{}"), &result).empty());
  EXPECT_EQ(result, HCCL_E_PARA);
  EXPECT_TRUE(pods("/nowhere.json", &result).empty());
  EXPECT_EQ(result, HCCL_E_OPEN_FILE_FAILURE);
  EXPECT_EQ(anynpu_each_table_rank(nullptr, nullptr, nullptr), HCCL_E_PTR);
}

// The environment is read once a process: what other variables say is tested with the command that asks.
TEST(RankSourceDoor, WithoutVariablesNobodyDecidesButThePortsAreKnown) {
  anynpu_who_am_i(
      [](const anynpu_rank_source* source, void*) {
        EXPECT_STREQ(source->source, "");
        EXPECT_STREQ(source->problem, "");
        EXPECT_EQ(source->rank, -1);
        EXPECT_EQ(source->first_port, 60000);
        EXPECT_EQ(source->ports, 16);
      },
      nullptr);
}

}  // namespace
}  // namespace npu::acl
