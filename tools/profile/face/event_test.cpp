// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/event.h"

#include "base/json.h"
#include "tools/profile/export/database_fixture.h"
#include "tools/profile/face/face.h"
#include "tools/profile/trace/collection_fixture.h"
#include "tools/profile/trace/step.h"

namespace npu::profile {
namespace {

using device::trace::Mark;

class Events : public Collection {
 protected:
  void export_all() const { EXPECT_EQ(dispatch({"--export=on", "--output=" + folder.string()}), 0); }
  Rows rows(const char* sql) const {
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".db") return profile::rows(entry.path(), sql);
    return {"no database"};
  }
  static MarkRecord mark(int64_t start, int64_t end, uint64_t number, Mark kind, int device = -1) {
    MarkRecord made;
    made.start = kClock + start, made.end = kClock + end, made.number = number, made.kind = kind;
    made.thread = 78, made.text = 1, made.device = device, made.stream = device < 0 ? -1 : 3;
    return made;
  }
};

TEST_F(Events, MarksHaveTheTimesOfTheirStream) {
  write_texts({"epoch, first", "load"});
  MarkRecord of_domain = mark(5'000, 5'000, 2, Mark::kMoment);
  of_domain.domain = 2;
  write("host/data/anynpu.marks", std::vector<MarkRecord>{mark(1'000, 9'000, 1, Mark::kRange), of_domain,
                                                          mark(2'000, 9'500, 1, Mark::kRange, 0)});
  export_all();
  EXPECT_EQ(exported("msprof_tx"),
            "pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,message,"
            "domain,mark_id,Device Start_time(us),Device End_time(us)\n"
            "77,78,N/A,start/end,N/A,N/A,1700000000000001.000,1700000000000009.000,message,\"epoch, first\",default,1,"
            "1700000000000002.000,1700000000000009.500\n"
            "77,78,N/A,marker_ex,N/A,N/A,1700000000000005.000,1700000000000005.000,message,\"epoch, first\",load,2,"
            "N/A,N/A\n");
}

TEST_F(Events, MarksOfModulesAreNoneOfTheClient) {
  write_texts({"epoch", "anynpu.module"});
  MarkRecord of_module = mark(5'000, 5'000, 1, Mark::kMoment);
  of_module.domain = 2;
  write("host/data/anynpu.marks", std::vector<MarkRecord>{of_module, mark(6'000, 6'000, 7, Mark::kMoment), of_module});
  const Trace trace = read_folder(folder);
  ASSERT_EQ(trace.marks.size(), 1u);
  EXPECT_EQ(trace.marks[0].number, 7u);
  EXPECT_EQ(trace.modules.size(), 2u);
}

TEST_F(Events, TimelinesAndDatabasesHaveMarks) {
  write_texts({"epoch"});
  write("host/data/anynpu.marks",
        std::vector<MarkRecord>{mark(1'000, 9'000, 7, Mark::kRange), mark(2'000, 9'500, 7, Mark::kRange, 0)});
  MemoryRecord record;
  record.start = record.end = kClock + 1'000, record.used = 2'048;
  write("host/data/anynpu.memory", std::vector<MemoryRecord>{record});
  export_all();
  int found = 0;
  for (const Json& event : Json::parse(exported("msprof_2", ".json")))
    if (event.value("name", "") == "epoch") {
      ++found;
      EXPECT_EQ(event["args"].value("mark_id", 0), 7);
    }
  EXPECT_EQ(found, 2);
  ASSERT_EQ(dispatch({"--export=on", "--type=db", "--output=" + folder.string()}), 0);
  EXPECT_EQ(rows("SELECT value, e.startNs, t.startNs, eventType FROM MSTX_EVENTS e JOIN TASK t USING (connectionId) "
                 "JOIN STRING_IDS ON message = id"),
            (Rows{"epoch 1700000000000001000 1700000000000002000 2"}));
  EXPECT_EQ(rows("SELECT value, hbm, timestampNs FROM NPU_MEM JOIN STRING_IDS ON type = id"),
            (Rows{"app 2048 1700000000000001000"}));
}

TEST_F(Events, MemoryIsWhatTheProcessHolds) {
  MemoryRecord record;
  record.start = record.end = kClock + 1'000, record.bytes = 512, record.used = 2'048;
  write("host/data/anynpu.memory", std::vector<MemoryRecord>{record});
  export_all();
  EXPECT_EQ(exported("npu_mem"),
            "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)\n0,APP,0,2.000,2.000,1700000000000001.000\n");
}

TEST_F(Events, StepsAreTheRunsOfTheMainGraph) {
  write_texts({"Conv2D", "first", "last", "ApplyAdam", "update", "graph", "other"});
  const auto node = [](int64_t start, int64_t end, uint32_t type, uint32_t name, uint32_t graph, uint32_t step) {
    TaskRecord made = task(start, end, Unit::kCube, type, name);
    made.graph = graph, made.step = step;
    return made;
  };
  write("device_0/data/anynpu.tasks",
        std::vector<TaskRecord>{node(1'000, 2'000, 1, 2, 6, 0), node(2'000, 5'000, 1, 3, 6, 0),
                                node(5'000, 6'000, 4, 5, 6, 0), node(6'500, 6'600, 1, 2, 7, 0),
                                node(8'000, 9'000, 1, 2, 6, 1), node(9'000, 12'000, 4, 5, 6, 1)});
  export_all();
  EXPECT_EQ(exported("step_trace"),
            "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
            "Iteration Refresh(us),Data Aug Bound(us),Model ID\n"
            "0,1,1700000000000001.000,1700000000000005.000,1700000000000006.000,5.000,4.000,1.000,0.000,4294967295\n"
            "0,2,1700000000000008.000,1700000000000009.000,1700000000000012.000,4.000,1.000,3.000,2.000,4294967295\n");
  // The client says which operators count.
  write("host/sample.json", R"({"fp_point": "last", "bp_point": "update"})");
  const std::vector<Step> named = steps_of(read_folder(folder));
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(named[0].forward, kBegin + 2'000);
  EXPECT_EQ(named[0].backward, kBegin + 6'000);
}

TEST_F(Events, CollectivesBelongToTheRunInWhichTheyBegin) {
  write_texts({"Conv2D", "node", "graph", "HcomAllReduce", "hcom_all_reduce", "group", "ApplyAdam"});
  const auto node = [](int64_t start, int64_t end, uint32_t step, uint32_t type = 1) {
    TaskRecord made = task(start, end, Unit::kCube, type, 2);
    made.graph = 3, made.step = step;
    return made;
  };
  uint32_t number = 0;  // of a collective in its communicator, which the record has instead of a graph and a step
  const auto reduce = [&](int64_t start, int64_t end) {
    TaskRecord made = task(start, end, Unit::kCollective, 4, 5);
    made.graph = 6, made.step = number++;
    return made;
  };
  write("device_0/data/anynpu.tasks",
        std::vector<TaskRecord>{reduce(100, 900), node(1'000, 3'000, 0), reduce(1'500, 2'500), node(3'000, 4'000, 0),
                                reduce(4'000, 4'800), node(4'800, 5'000, 0, 7), reduce(5'500, 5'600),
                                node(6'000, 8'000, 1), reduce(7'000, 8'500), node(8'500, 9'000, 1, 7)});
  const std::vector<Step> steps = steps_of(read_folder(folder));
  ASSERT_EQ(steps.size(), 2u);
  ASSERT_EQ(steps[0].reductions.size(), 2u) << "neither what came before the run nor what came after it";
  EXPECT_EQ(steps[0].reductions[0].start, kBegin + 1'500);
  EXPECT_EQ(steps[0].reductions[1].start, kBegin + 4'000);
  EXPECT_EQ(steps[0].backward, kBegin + 4'000) << "a collective is no operator of the backward pass";
  EXPECT_EQ(steps[0].end, kBegin + 5'000);
  ASSERT_EQ(steps[1].reductions.size(), 1u);
  export_all();
  const std::string table = exported("step_trace");
  EXPECT_TRUE(table.find("Model ID,Reduce Start(us),Reduce Duration(us),Reduce Start(us),Reduce Duration(us)\n") !=
              table.npos);
  EXPECT_TRUE(table.find(",1700000000000001.500,1.000,1700000000000004.000,0.800\n") != table.npos) << table;
  EXPECT_TRUE(table.find(",1700000000000007.000,1.500,N/A,N/A\n") != table.npos) << table;
}

TEST_F(Events, MarkedStepsComeFirst) {
  write_texts({"Conv2D", "node", "graph"});
  TaskRecord node = task(1'000, 2'000, Unit::kCube, 1, 2), collective = task(2'100, 2'300, Unit::kCollective, 1, 2);
  node.graph = 3;
  write("device_0/data/anynpu.tasks", std::vector<TaskRecord>{node, collective, task(3'500, 3'600, Unit::kCube, 1, 2)});
  write("host/data/anynpu.marks", std::vector<MarkRecord>{mark(900, 3'000, 4, Mark::kStep, 0)});
  const std::vector<Step> steps = steps_of(read_folder(folder));
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].number, 4u);
  EXPECT_EQ(steps[0].end, kBegin + 2'300);
  ASSERT_EQ(steps[0].reductions.size(), 1u);
  EXPECT_EQ(steps[0].reductions[0].start, kBegin + 2'100);
}

TEST_F(Events, OperatorsOneByOneHaveNoSteps) {
  write("device_0/data/anynpu.tasks", std::vector<TaskRecord>{task(0, 1, Unit::kVector, 0, 0)});
  EXPECT_TRUE(steps_of(read_folder(folder)).empty());
}

}  // namespace
}  // namespace npu::profile
