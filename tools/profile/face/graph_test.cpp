// SPDX-License-Identifier: Apache-2.0
// What the host does for graphs, in tables, timelines and databases.
#include <algorithm>

#include "base/json.h"
#include "tools/profile/export/database_fixture.h"
#include "tools/profile/face/face.h"
#include "tools/profile/trace/collection_fixture.h"

namespace npu::profile {
namespace {

class MsprofGraphs : public Collection {
 protected:
  void SetUp() override {
    Collection::SetUp();
    write_texts({"__inference_step_7", "anynpu_library_run", "argument x was float32[2] and is float32[3]", "to_text",
                 "AsString", "there is no kernel of it"});
    write<CallRecord>("host/data/anynpu.calls", {{kClock + 100, kClock + 9000, 78, 2, Level::kRuntime, 0}});
    GraphRecord passes = work(200, 700, HostWork::kPasses, 1), plan = work(700, 2700, HostWork::kPlan, 1),
                node = work(3000, 4000, HostWork::kNode, 1);
    passes.need = Need::kFirst, plan.need = Need::kShapes, plan.reason = 3;
    node.name = 4, node.type = 5, node.reason = 6, node.bytes = 64;
    write<GraphRecord>("host/data/anynpu.graphs", {node, passes, plan});
  }
  static void run(std::vector<std::string> words) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(dispatch(words), 0);
    testing::internal::GetCapturedStdout();
  }
};

TEST_F(MsprofGraphs, StandAmongTheCallsOfTheHost) {
  run({"--export=on", "--output=" + folder.string()});
  EXPECT_EQ(exported("api_statistic_"),
            "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
            "host,acl,anynpu_library_run,8.900,1,8.900,8.900,8.900,0.000\n"
            "host,model,GraphPlan,2.000,1,2.000,2.000,2.000,0.000\n"
            "host,model,HostNode_AsString,1.000,1,1.000,1.000,1.000,0.000\n"
            "host,model,GraphPasses,0.500,1,0.500,0.500,0.500,0.000\n");
  const Json events = Json::parse(exported("msprof_", ".json"));
  const auto find = [&](const char* name) {
    const auto found = std::ranges::find_if(events, [&](const auto& one) { return one["name"] == name; });
    return found == events.end() ? Json::object() : *found;
  };
  const Json plan = find("Model@GraphPlan __inference_step_7"), node = find("Model@HostNode_AsString");
  EXPECT_EQ(plan["tid"], find("AscendCL@anynpu_library_run")["tid"]);
  EXPECT_EQ(plan["ts"], "1700000000000000.700");
  EXPECT_EQ(plan["args"]["level"], "model");
  EXPECT_EQ(plan["args"]["why"], "other shapes");
  EXPECT_EQ(plan["args"]["reason"], "argument x was float32[2] and is float32[3]");
  EXPECT_EQ(node["args"]["node"], "to_text");
  EXPECT_EQ(node["dur"].get<double>(), 1.0);
}

TEST_F(MsprofGraphs, HaveATableOfTheirOwnInTheDatabase) {
  run({"--export=on", "--type=db", "--output=" + folder.string()});
  fs::path file;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".db") file = entry.path();
  EXPECT_EQ(rows(file,
                 "SELECT n.value, endNs - startNs, e.name, f.value, w.value, t.value, r.value, bytes FROM CANN_API a "
                 "JOIN ENUM_API_TYPE e ON e.id = a.type JOIN GRAPH_WORK USING (connectionId) JOIN STRING_IDS n ON "
                 "n.id = a.name JOIN STRING_IDS f ON f.id = function JOIN STRING_IDS w ON w.id = need JOIN STRING_IDS "
                 "t ON t.id = GRAPH_WORK.type JOIN STRING_IDS r ON r.id = reason ORDER BY startNs"),
            (Rows{"GraphPasses 500 model __inference_step_7 first time   0",
                  "GraphPlan 2000 model __inference_step_7 other shapes  argument x was float32[2] and is float32[3] 0",
                  "HostNode_AsString 1000 model __inference_step_7  AsString there is no kernel of it 64"}));
}

}  // namespace
}  // namespace npu::profile
