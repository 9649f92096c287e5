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

TEST(RankSource, RanksOnSeveralHostsMeetWhereTheLauncherSays) {
  const auto hosts = [](std::map<std::string, std::string, std::less<>> variables) {
    const RankSource source = *found(variables);
    return std::pair(source.hosts, source.first_host);
  };
  const auto one = std::pair(1u, std::string());
  const auto at = [](const char* host) { return std::pair(2u, std::string(host)); };
  EXPECT_EQ(hosts({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "4"}, {"MASTER_ADDR", "10.0.0.1"}}), one);
  EXPECT_EQ(hosts({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "10.0.0.1"}}),
            at("10.0.0.1"));
  // A loop in a shell says only where rank 0 is.
  EXPECT_EQ(hosts({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "localhost"}}), one);
  EXPECT_EQ(hosts({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "127.0.0.1"}}), one);
  EXPECT_EQ(hosts({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node1"}}), at("node1"));
  const std::map<std::string, std::string, std::less<>> mpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                                                               {"OMPI_COMM_WORLD_SIZE", "4"}};
  auto spread = mpi;
  spread.insert({"OMPI_COMM_WORLD_LOCAL_SIZE", "2"});
  EXPECT_EQ(hosts(mpi), one);
  EXPECT_EQ(hosts(spread), at(""));  // it is asked for where ranks join
  std::map<std::string, std::string, std::less<>> slurm = {
      {"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"SLURM_NNODES", "1"}, {"SLURM_JOB_NODELIST", "cn[08-09,11]-ib"}};
  EXPECT_EQ(hosts(slurm), one);
  slurm["SLURM_NNODES"] = "2";
  EXPECT_EQ(hosts(slurm), at("cn08-ib"));
  slurm["SLURM_STEP_NODELIST"] = "cn11-ib,login";
  EXPECT_EQ(hosts(slurm), at("cn11-ib"));
}

TEST(RankSource, TheFirstOfAListOfHosts) {
  EXPECT_EQ(first_of_list("node3"), "node3");
  EXPECT_EQ(first_of_list("node3,node[5-7]"), "node3");
  EXPECT_EQ(first_of_list("node[03-07,12],other"), "node03");
  EXPECT_EQ(first_of_list("n[7]"), "n7");
  EXPECT_ERROR(first_of_list("n[7"), Code::kInvalidParam, "a bracket is not closed");
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
