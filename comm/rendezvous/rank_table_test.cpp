// SPDX-License-Identifier: Apache-2.0
#include "comm/rendezvous/rank_table.h"

#include <fstream>
#include <thread>

#include "comm/core/fault.h"
#include "device/device_fixture.h"

namespace npu::comm {
namespace {

const std::string kServers = R"({
  "server_count": "2", "status": "completed", "version": "1.0",
  "server_list": [
    {"server_id": "10.0.0.1", "host_nic_ip": "reserve", "device": [
      {"device_id": "0", "device_ip": "192.168.0.1", "rank_id": "0"},
      {"device_id": "1", "device_ip": "192.168.1.1", "rank_id": "1"}]},
    {"server_id": "node_1", "host_ip": "10.0.0.2", "device": [
      {"device_id": "0", "device_ip": "192.168.0.2", "rank_id": "2"},
      {"device_id": "1", "device_ip": "192.168.1.2", "rank_id": "3"}]}]})";

const std::string kGroups = R"({
  "status": "completed", "group_count": "1",
  "group_list": [{"group_name": "worker", "device_count": "3", "instance_count": "2", "instance_list": [
    {"pod_name": "tf-b", "server_id": "10.0.0.1", "devices": [{"device_id": "5", "device_ip": "1.1.1.5"},
                                                               {"device_id": "4", "device_ip": "1.1.1.4"}]},
    {"pod_name": "tf-a", "server_id": "10.0.0.2", "devices": [{"device_id": "0", "device_ip": "1.1.1.1"}]}]}]})";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(RankTable, RemarksAsInTheSamplesOfTheGuideAreRead) {
  const std::string remarked = with(kGroups, "\"group_count\": \"1\",", "\"group_count\": \"1\", // groups, 1\n");
  EXPECT_EQ(parse_rank_table(remarked, "t.json").ranks.size(), 3u);
  EXPECT_EQ(parse_rank_table(with(kServers, "\"rank_id\": \"3\"}]}]}", "\"rank_id\": \"3\",},],},],}"), "t.json")
                .ranks.size(),
            4u);
}

TEST(RankTable, ServersGiveRanksWithTheirDevices) {
  const RankTable table = parse_rank_table(kServers, "t.json");
  ASSERT_EQ(table.ranks.size(), 4u);
  EXPECT_EQ(table.ranks[1].device, 1);
  EXPECT_EQ(table.ranks[1].server, "10.0.0.1");
  EXPECT_EQ(table.ranks[1].address, "10.0.0.1");
  EXPECT_EQ(table.ranks[2].server, "node_1");
  EXPECT_EQ(table.ranks[2].address, "10.0.0.2");
  EXPECT_EQ(rank_in(table, "3", -1, "t.json"), 3u);
}

TEST(RankTable, ATrainingUsesTheFirstOfATableOfAllDevices) {
  RankTable table = parse_rank_table(kServers, "t.json");
  take_ranks(table, 0, "t.json");
  EXPECT_EQ(table.ranks.size(), 4u) << "RANK_SIZE is not set";
  take_ranks(table, 2, "t.json");
  ASSERT_EQ(table.ranks.size(), 2u);
  EXPECT_EQ(table.ranks[1].device, 1);
  EXPECT_EQ(table.ranks[1].server, "10.0.0.1");
  EXPECT_ERROR(rank_in(table, "2", -1, "t.json"), Code::kInvalidParam, "the ranks are 0 to 1");
  EXPECT_ERROR(take_ranks(table, 3, "t.json"), Code::kInvalidParam, "RANK_SIZE is 3, but the rank table t.json has 2");
}

TEST(RankTable, GroupsAreOneWorldInTheOrderOfServersAndDevices) {
  const RankTable table = parse_rank_table(kGroups, "t.json");
  ASSERT_EQ(table.ranks.size(), 3u);
  EXPECT_EQ(table.ranks[0].device, 4);
  EXPECT_EQ(table.ranks[1].device, 5);
  EXPECT_EQ(table.ranks[2].pod, "tf-a");
  EXPECT_EQ(rank_in(table, "tf-b", 5, "t.json"), 1u);
  EXPECT_EQ(rank_in(table, "tf-a", -1, "t.json"), 2u);
  EXPECT_ERROR(rank_in(table, "tf-c", 0, "t.json"), Code::kInvalidParam, "no pod_name is");
}

TEST(RankTable, NumbersInPlaceOfTextsAreAccepted) {
  EXPECT_EQ(parse_rank_table(with(kServers, "\"rank_id\": \"3\"", "\"rank_id\": 3"), "t.json").ranks.size(), 4u);
}

TEST(RankTable, WhatMakesNoSenseIsToldWithItsPlace) {
  const auto refused = [](const std::string& from, const std::string& to, const std::string& text) {
    EXPECT_ERROR(parse_rank_table(with(kServers, from, to), "t.json"), Code::kInvalidParam, text);
  };
  refused("\"rank_id\": \"1\"", "\"rank_id\": \"0\"", "server_list[0].device[1]: rank_id 0 stands twice");
  refused("\"rank_id\": \"3\"", "\"rank_id\": \"4\"", "rank_id 3 is missing");
  refused("\"rank_id\": \"3\"", "\"rank_id\": \"x\"", "'rank_id' is 'x'");
  refused("\"rank_id\": \"3\"", "\"rank_id\": \"-1\"", "a number from 0 on");
  refused("\"server_count\": \"2\"", "\"server_count\": \"3\"", "'server_count' is 3, but server_list has 2 entries");
  refused("\"server_id\": \"node_1\"", "\"server_id\": \"10.0.0.1\"", "server_id '10.0.0.1' stands twice");
  refused("\"device_id\": \"1\"", "\"device_id\": \"0\"", "device_id 0 stands twice");
  refused("\"server_list\"", "\"servers\"", "the list 'server_list' is missing");
  refused("192.168.1.1", "192.168.0.1", "server_list[0].device[1]: device_ip 192.168.0.1 stands twice");
  refused("192.168.0.2", "192.168.0.1", "server_list[1].device[0]: device_ip 192.168.0.1 stands twice");
  refused("192.168.0.2", "192.168.0", "device_ip is '192.168.0', which is no IPv4 or IPv6 address");
  refused("\"version\": \"1.0\"", "\"version\": \"3.0\"", "version is '3.0'; known are 1.0, 1.2");
  refused("\"status\": \"completed\", ", "", "'status' is missing");
  refused("completed", "ready", "status is 'ready'; it is completed, or initializing");
  EXPECT_ERROR(parse_rank_table(with(kGroups, "\"group_list\"", "\"groups\""), "t.json"), Code::kInvalidParam,
               "the list 'group_list' is missing");
  EXPECT_EQ(parse_rank_table(with(kServers, "192.168.0.2", ""), "t.json").ranks.size(), 4u);  // a card that is not used
  refused("\"server_id\": \"node_1\", ", "", "'server_id' is missing");
  EXPECT_ERROR(parse_rank_table("{", "t.json"), Code::kInvalidParam, "EI0004: t.json: no JSON");
  EXPECT_ERROR(parse_rank_table("[]", "t.json"), Code::kInvalidParam, "no object");
  EXPECT_ERROR(parse_rank_table(R"({"status": "completed", "server_list": []})", "t.json"), Code::kInvalidParam,
               "there is no rank");
}

TEST(RankTable, ATableThatIsBeingWrittenIsReadAgain) {
  const std::string path = testing::TempDir() + "rank_table_test.json";
  const auto write = [&](const std::string& text) { std::ofstream(path + ".new") << text; };
  write(with(kServers, "completed", "initializing"));
  rename((path + ".new").c_str(), path.c_str());
  EXPECT_ERROR(read_rank_table(path, 0), Code::kRtInternal, "status is not \"completed\"");
  write(kServers);
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    rename((path + ".new").c_str(), path.c_str());
  });
  EXPECT_EQ(read_rank_table(path, 20).ranks.size(), 4u);
  later.join();
  std::ofstream(path) << std::string(kServers).substr(0, 100);
  EXPECT_ERROR(read_rank_table(path, 0), Code::kInvalidParam, "no JSON");
  later = std::jthread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::ofstream(path) << kServers;
  });
  EXPECT_EQ(read_rank_table(path, 20).ranks.size(), 4u);
  remove(path.c_str());
  EXPECT_ERROR(read_rank_table("/nowhere/t.json", 0), Code::kRtInternal, "cannot be opened");
  EXPECT_ERROR(read_rank_table(testing::TempDir(), 60), Code::kRtInternal, "is a folder");
}

}  // namespace
}  // namespace npu::comm
