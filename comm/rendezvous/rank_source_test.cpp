// SPDX-License-Identifier: Apache-2.0
#include "comm/rendezvous/rank_source.h"

#include <map>

#include "device/device_fixture.h"

namespace npu::comm {
namespace {

std::optional<RankSource> found(const std::map<std::string, std::string, std::less<>>& variables) {
  return find_rank_source([&](std::string_view name) {
    const auto at = variables.find(name);
    return at == variables.end() ? std::string() : at->second;
  });
}

TEST(RankSource, TheFirstThatIsThereDecides) {
  std::map<std::string, std::string, std::less<>> all = {{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}};
  EXPECT_EQ(found(all)->name, "SLURM_PROCID");
  EXPECT_EQ(found(all)->rank, 3u);
  all.insert({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  EXPECT_EQ(found(all)->name, "OMPI_COMM_WORLD_RANK");
  all.insert({{"RANK", "0"}, {"WORLD_SIZE", "8"}});
  EXPECT_EQ(found(all)->name, "RANK");
  EXPECT_EQ(found(all)->size, 8u);
  auto with_table = all;
  with_table.insert({{"RANK_TABLE_FILE", "t.json"}, {"RANK_ID", "tf-b"}});
  EXPECT_EQ(found(with_table)->name, "RANK_TABLE_FILE");
  EXPECT_EQ(found(with_table)->rank_id, "tf-b");
  all.insert(
      {{"CM_CHIEF_IP", "192.168.1.1"}, {"CM_CHIEF_PORT", "6000"}, {"CM_CHIEF_DEVICE", "0"}, {"CM_WORKER_SIZE", "8"}});
  EXPECT_EQ(found(all)->name, "CM_CHIEF_IP");
  EXPECT_EQ(found(all)->port, 6000);
  EXPECT_EQ(found(all)->rank, kAnyRank);
}

TEST(RankSource, NothingIsNothing) {
  EXPECT_FALSE(found({}));
  EXPECT_FALSE(found({{"RANK", "0"}}));  // half of a launcher
}

TEST(RankSource, WhatMakesNoSenseIsToldByName) {
  const auto refused = [](const std::map<std::string, std::string, std::less<>>& variables, const std::string& text) {
    EXPECT_ERROR(found(variables), Code::kInvalidParam, text);
  };
  refused({{"RANK_TABLE_FILE", "t.json"}}, "RANK_ID is not");
  refused({{"RANK_TABLE_FILE", "t.json"}, {"RANK_ID", "0"}, {"CM_CHIEF_IP", "1.1.1.1"}}, "are both set");
  refused({{"CM_CHIEF_IP", "1.1.1.1"}}, "CM_CHIEF_PORT is ''");
  refused({{"CM_CHIEF_IP", "1.1.1.1"}, {"CM_CHIEF_PORT", "6000"}, {"CM_CHIEF_DEVICE", "0"}, {"CM_WORKER_SIZE", "0"}},
          "CM_WORKER_SIZE is 0");
  refused({{"CM_CHIEF_IP", "1.1.1.1"}, {"CM_CHIEF_PORT", "65521"}},
          "CM_CHIEF_PORT is '65521'; it is a number from 0 to 65520");
  refused({{"RANK", "2"}, {"WORLD_SIZE", "2"}}, "RANK is 2, but WORLD_SIZE is 2");
  refused({{"RANK", "x"}, {"WORLD_SIZE", "2"}}, "RANK is 'x'");
}

}  // namespace
}  // namespace npu::comm
