// SPDX-License-Identifier: Apache-2.0
// Ranks, communicators, and what went between two ranks.

#include "base/json.h"
#include "tools/profile/export/database_fixture.h"
#include "tools/profile/face/face.h"
#include "tools/profile/trace/collection_fixture.h"
#include "tools/profile/trace/ranks.h"

namespace npu::profile {
namespace {

constexpr const char* kGroup = "325245611721373395";  // of "group"

class MsprofRanks : public Collection {
 protected:
  void SetUp() override {
    Collection::SetUp();
    write("host/info.json", R"({"pid":"77","anynpu_format":1,"rank_id":1,"world_size":3})");
    write_texts({"HcomAllReduce", "hcom_all_reduce", "group", "pair", "a/70/0,a/71/1,b/70/0", "b/70/0,a/71/1"});
    GroupRecord world, pair;
    world.start = world.end = kClock + 1, world.name = 3, world.members = 5, world.rank = 1, world.size = 3;
    pair.start = pair.end = kClock + 2, pair.name = 4, pair.members = 6, pair.rank = 1, pair.size = 2;
    write<GroupRecord>("host/data/anynpu.groups", {pair, world, world});
    TaskRecord reduce = task(1'000'000, 3'000'000, Unit::kCollective, 1, 2);
    reduce.graph = 3, reduce.step = 7, reduce.bytes = 4'000'000, reduce.waited = 1'500'000;
    write<TaskRecord>("device_0/data/anynpu.tasks", {reduce});
    std::vector<LinkRecord> links;
    for (const auto& [from, to, bytes] : {std::tuple{0u, 1u, 1'000'000u}, {1u, 1u, 1'500'000u}, {1u, 2u, 3'000'000u}}) {
      LinkRecord& link = links.emplace_back();
      link.start = kClock + 1'100'000, link.end = kClock + 2'900'000, link.group = 3, link.number = 7, link.stream = 3;
      link.from = from, link.to = to, link.bytes = bytes, link.pieces = to == 2 ? 3 : 1;
    }
    LinkRecord other = links.front();  // of another collective of that number, after it
    other.start = kClock + 4'000'000, other.end = kClock + 5'000'000;
    links.push_back(other);
    write("host/data/anynpu.links", links);
  }
  void run(const char* what, const char* type = "text") const {
    testing::internal::CaptureStdout();
    EXPECT_EQ(dispatch({what, std::string("--type=") + type, "--output=" + folder.string()}), 0);
    testing::internal::GetCapturedStdout();
  }
};

TEST_F(MsprofRanks, AMatrixTellsWhatWentBetweenTwo) {
  run("--analyze=on");
  const auto all = Json::parse(read(folder / "analyze/communication_matrix.json"));
  ASSERT_EQ(all.size(), 1u);
  const Json& links = all[std::string("hcom_allReduce__395_7_1@") + kGroup];
  EXPECT_EQ(links["0-1"].dump(), R"json({"Bandwidth(GB/s)":2.0,"Transit Size(MB)":1.0,"Transit Time(ms)":0.5,)json"
                                 R"json("Transport Type":"HCCS"})json");
  EXPECT_EQ(links["1-1"]["Transport Type"], "LOCAL");
  EXPECT_EQ(links["1-2"]["Transit Size(MB)"].get<double>(), 3);
  EXPECT_EQ(links.size(), 3u);
  const auto times = Json::parse(read(folder / "analyze/communication.json"));
  const Json& hccs = times[std::string("hcom_allReduce__395_7_1@") + kGroup]["Communication Bandwidth Info"]["HCCS"];
  EXPECT_EQ(hccs["Transit Size(MB)"].get<double>(), 4);  // what is its own crosses no link
  EXPECT_EQ(hccs["Size Distribution"], Json::parse(R"({"1":[4,0.5]})"));
  run("--analyze=on", "db");
  EXPECT_EQ(rows(folder / "analyze/communication_analyzer.db",
                 "SELECT group_name, src_rank, dst_rank, transport_type, transit_size, transit_time, bandwidth FROM "
                 "CommAnalyzerMatrix"),
            (Rows{std::string(kGroup) + " 0 1 HCCS 1 0.5 2", std::string(kGroup) + " 1 1 LOCAL 1.5 0.5 3",
                  std::string(kGroup) + " 1 2 HCCS 3 0.5 6"}));
}

TEST_F(MsprofRanks, TheDatabaseKnowsTheRankAndItsGroups) {
  run("--export=on", "db");
  fs::path file;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".db") file = entry.path();
  EXPECT_EQ(rows(file, "SELECT rankId, deviceId FROM RANK_DEVICE_MAP"), Rows{"1 0"});
  const Rows groups = rows(file, "SELECT value FROM META_DATA WHERE name = 'parallel_group_info'");
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(Json::parse(groups.front()), Json::parse(R"({
      "group": {"group_name": "default_group", "group_rank": 1, "global_ranks": [0, 1, 2]},
      "pair": {"group_name": "", "group_rank": 1, "global_ranks": [2, 1]}})"));
}

TEST_F(MsprofRanks, AProcessAloneHasNone) {
  write("host/info.json", R"({"pid":"77","anynpu_format":1})");
  fs::remove(folder / "host/data/anynpu.groups");
  const Trace trace = read_folder(folder);
  EXPECT_EQ(trace.rank, -1);
  EXPECT_TRUE(groups_of(trace).empty());
}

}  // namespace
}  // namespace npu::profile
