// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/face/face.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/json.h"
#include "tools/profile/export/database_fixture.h"
#include "tools/profile/trace/collection_fixture.h"

namespace npu::profile {
namespace {

using Msprof = Collection;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

int run(std::vector<std::string> arguments) {
  testing::internal::CaptureStdout();
  const int code = dispatch(arguments);
  testing::internal::GetCapturedStdout();
  return code;
}

TEST_F(Msprof, ExportsTables) {
  write_texts({"Add", "aclnnAdd_Add", "2,3;2,3|FLOAT;FLOAT|ND;ND", "2,3|FLOAT|ND", "copy", "HcomAllReduce",
               "a \"name\", quoted", "aclnnAdd"});
  TaskRecord first = task(1000, 3500, Unit::kVector, 1, 2), again = task(5000, 6000, Unit::kVector, 1, 7);
  first.inputs = 3, first.outputs = 4, first.number = 9;
  TaskRecord open = task(9000, 9999, Unit::kVector, 1, 2);
  open.end = 0;  // ran when the process died
  write<TaskRecord>("device_0/data/anynpu.tasks", {again, first, open, task(3500, 3600, Unit::kNone, 5, 5),
                                                   task(6000, 8000, Unit::kCollective, 6, 6)});
  write<CallRecord>("host/data/anynpu.calls", {{kClock + 100, kClock + 300, 78, 8, Level::kWorkspace, 0},
                                               {kClock + 300, kClock + 900, 78, 8, Level::kOperator, 0},
                                               {kClock + 900, kClock + 1100, 78, 8, Level::kOperator, 0}});
  ASSERT_EQ(run({"--export=on", "--output=" + folder.string()}), 0);
  EXPECT_EQ(
      exported("op_summary_"),
      "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
      "Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
      "Output Shapes,Output Data Types,Output Formats,Context ID\n"
      "0,4294967295,9,3,aclnnAdd_Add,Add,static,AI_VECTOR_CORE,1700000000000001.000,2.500,0.000,N/A,N/"
      "A,NO,\"\"\"2,3;2,3\"\"\","
      "\"FLOAT;FLOAT\",\"ND;ND\",\"\"\"2,3\"\"\",FLOAT,ND,N/A\n"
      "0,4294967295,0,3,\"a \"\"name\"\", "
      "quoted\",Add,static,AI_VECTOR_CORE,1700000000000005.000,1.000,1.500,N/A,N/A,NO,"
      "N/A,N/A,N/A,N/A,N/A,N/A,N/A\n"
      "0,4294967295,0,3,HcomAllReduce__000_0_1,HcomAllReduce,static,COMMUNICATION,1700000000000006.000,2.000,0.000,N/"
      "A,N/A,NO,"
      "N/A,N/A,N/A,N/A,N/A,N/A,N/A\n");
  EXPECT_EQ(
      exported("op_statistic_"),
      "Device_id,Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
      "0,N/A,Add,AI_VECTOR_CORE,2,3.500,1.000,1.750,2.500,100.000\n");
  EXPECT_EQ(exported("communication_statistic_"),
            "Device_id,OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
            "0,HcomAllReduce,1,2.000,2.000,2.000,2.000,100.000\n");
  EXPECT_EQ(exported("api_statistic_"),
            "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
            "host,node,aclnnAdd,0.800,2,0.400,0.200,0.600,0.040\n"
            "host,node,aclnnAddGetWorkspaceSize,0.200,1,0.200,0.200,0.200,0.000\n");
  EXPECT_NE(exported("task_time_").find("0,copy,N/A,3,0,0.100,1700000000000003.500,1700000000000003.600\n"),
            std::string::npos);
}

TEST_F(Msprof, TimelineHasArrowsThatEndAtSlices) {
  write_texts({"Add", "aclnnAdd_Add", "HcomAllReduce"});
  write<TaskRecord>("device_0/data/anynpu.tasks",
                    {task(1000, 2000, Unit::kVector, 1, 2), task(1500, 4000, Unit::kCollective, 3, 3, 4),
                     task(6000, 7000, Unit::kCube, 1, 2)});
  write<CallRecord>("host/data/anynpu.calls", {{kClock + 400, kClock + 900, 78, 2, Level::kOperator, 0}});
  ASSERT_EQ(run({"--export=on", "--output=" + root.string()}), 0);
  const Json events = Json::parse(exported("msprof_", ".json"));
  EXPECT_FALSE(exported("msprof_", ".perfetto-trace").empty());
  std::set<std::string> slices;
  std::map<std::string, double> totals;
  std::map<int64_t, std::string> processes;
  for (const auto& event : events) {
    if (event["ph"] == "X") {
      slices.insert(fmt::format("{} {} {}", event["pid"].get<int64_t>(), event["tid"].get<int64_t>(),
                                event["ts"].get<std::string>()));
      totals[event["name"].get<std::string>()] += event["dur"].get<double>();
    }
    if (event["name"] == "process_name")
      processes[event["pid"].get<int64_t>()] = event["args"]["name"].get<std::string>();
  }
  std::map<std::string, int> arrows;
  for (const auto& event : events) {
    if (event["ph"] != "s" && event["ph"] != "f") continue;
    arrows[event["id"].get<std::string>()] += event["ph"] == "s" ? 1 : 100;
    const std::string place = fmt::format("{} {} {}", event["pid"].get<int64_t>(), event["tid"].get<int64_t>(),
                                          event["ts"].get<std::string>());
    EXPECT_TRUE(event["ph"] == "s" || slices.contains(place)) << place;
    EXPECT_EQ(processes[event["pid"].get<int64_t>()], event["ph"] == "s" ? "CANN" : "Ascend Hardware");
  }
  EXPECT_EQ(arrows, (std::map<std::string, int>{{"1", 101}, {"2", 101}, {"3", 101}}));
  EXPECT_DOUBLE_EQ(totals["Computing"], 2);
  EXPECT_DOUBLE_EQ(totals["Communication"], 2.5);
  EXPECT_DOUBLE_EQ(totals["Communication(Not Overlapped)"], 2);
  EXPECT_DOUBLE_EQ(totals["Free"], 2);
  EXPECT_DOUBLE_EQ(totals["Node@aclnnAdd_Add"], 0.5);
}

TEST_F(Msprof, TellsWhatCollectivesTook) {
  write_texts({"HcomAllReduce", "hcom_all_reduce", "group", "hcom_recv"});
  TaskRecord reduce = task(1'000'000, 3'000'000, Unit::kCollective, 1, 2);
  reduce.graph = 3, reduce.step = 7, reduce.bytes = 4'000'000, reduce.waited = 1'500'000;
  TaskRecord message = task(4'000'000, 4'500'000, Unit::kCollective, 4, 4),
             another = task(5'000'000, 5'500'000, Unit::kCollective, 4, 4);
  message.graph = another.graph = 3, message.step = another.step = 8;
  write<TaskRecord>("device_0/data/anynpu.tasks", {reduce, message, another});
  ASSERT_EQ(run({"--analyze=on", "--output=" + folder.string()}), 0);
  const Json all = Json::parse(read(folder / "analyze/communication.json"));
  std::vector<std::string> names;
  for (const auto& [name, value] : all.items()) names.push_back(name);
  ASSERT_EQ(names, (std::vector<std::string>{"hcom_allReduce__395_7_1@325245611721373395",
                                             "hcom_receive__395_8_1@325245611721373395",
                                             "hcom_receive__395_8_2@325245611721373395"}));
  const Json& time = all[names[0]]["Communication Time Info"];
  EXPECT_EQ(time["Start Timestamp(us)"].get<double>(), 1'700'000'000'001'000.0);
  EXPECT_EQ(time["Elapse Time(ms)"].get<double>(), 2);
  EXPECT_EQ(time["Wait Time(ms)"].get<double>(), 1.5);
  EXPECT_EQ(time["Transit Time(ms)"].get<double>(), 0.5);
  EXPECT_EQ(time["Wait Time Ratio"].get<double>(), 0.75);
  EXPECT_EQ(all[names[0]]["Communication Bandwidth Info"]["HCCS"]["Bandwidth(GB/s)"].get<double>(), 8);
  EXPECT_FALSE(fs::exists(folder / "mindstudio_profiler_output"));
  ASSERT_EQ(run({"--analyze=on", "--type=db", "--output=" + folder.string()}), 0);
  const Rows times = rows(folder / "analyze/communication_analyzer.db",
                          "SELECT hccl_op_name, group_name, start_timestamp, elapse_time, transit_time, wait_time, "
                          "synchronization_time, idle_time FROM CommAnalyzerTime");
  EXPECT_EQ(times, (Rows{"hcom_allReduce__395_7_1 325245611721373395 1700000000001000 2 0.5 1.5 1.5 0",
                         "hcom_receive__395_8_1 325245611721373395 1700000000004000 0.5 0.5 0 0 0",
                         "hcom_receive__395_8_2 325245611721373395 1700000000005000 0.5 0.5 0 0 0"}));
  EXPECT_EQ(rows(folder / "analyze/communication_analyzer.db",
                 "SELECT hccl_op_name, transport_type, transit_size, transit_time, bandwidth, large_packet_ratio, "
                 "package_size, count, total_duration FROM CommAnalyzerBandwidth"),
            (Rows{"hcom_allReduce__395_7_1 HCCS 4 0.5 8 0 4 1 0.5", "hcom_allReduce__395_7_1 SDMA 4 0.5 8 0 4 1 0.5"}));
  // Records without links, of a version before.
  EXPECT_EQ(rows(folder / "analyze/communication_analyzer.db", "SELECT count(*) FROM CommAnalyzerMatrix"), Rows{"0"});
  write<TaskRecord>("device_0/data/anynpu.tasks", {task(1, 2, Unit::kVector, 1, 1)});
  EXPECT_EQ(run({"--analyze=on", "--type=db", "--output=" + folder.string()}), 0);
}

TEST_F(Msprof, WritesADatabase) {
  write_texts({"Add", "aclnnAdd_Add", "2,3|FLOAT|ND", "HcomAllReduce", "copy", "aclrtMalloc"});
  TaskRecord add = task(1000, 2000, Unit::kVector, 1, 2);
  add.inputs = add.outputs = 3;
  write<TaskRecord>("device_0/data/anynpu.tasks",
                    {task(500, 600, Unit::kNone, 5, 5), add, task(1500, 4000, Unit::kCollective, 4, 4)});
  write<CallRecord>("host/data/anynpu.calls", {{kClock + 400, kClock + 900, 78, 6, Level::kRuntime, 0}});
  ASSERT_EQ(run({"--export=on", "--type=db", "--output=" + folder.string()}), 0);
  fs::path file;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".db") file = entry.path();
  const auto rows = [&](const char* sql) { return profile::rows(file, sql); };
  EXPECT_EQ(
      rows("SELECT startNs, endNs, value FROM TASK JOIN STRING_IDS ON taskType = id ORDER BY startNs"),
      (Rows{"1700000000000000500 1700000000000000600 N/A", "1700000000000001000 1700000000000002000 AI_VECTOR_CORE",
            "1700000000000001500 1700000000000004000 COMMUNICATION"}));
  EXPECT_EQ(rows("SELECT n.value, t.value, s.value FROM COMPUTE_TASK_INFO c JOIN STRING_IDS n ON c.name = n.id JOIN "
                 "STRING_IDS t "
                 "ON c.opType = t.id JOIN STRING_IDS s ON c.inputShapes = s.id JOIN TASK USING (globalTaskId)"),
            (Rows{"aclnnAdd_Add Add \"2,3\""}));
  EXPECT_EQ(rows("SELECT value, o.endNs FROM COMMUNICATION_OP o JOIN STRING_IDS ON opName = id JOIN TASK t USING "
                 "(connectionId)"),
            (Rows{"HcomAllReduce__000_0_1 1700000000000004000"}));
  EXPECT_EQ(
      rows("SELECT count(*), type, value FROM CANN_API JOIN STRING_IDS ON name = id GROUP BY value ORDER BY value"),
      (Rows{"1 20000 aclrtMalloc", "3 10000 launch"}));
  EXPECT_EQ(
      rows("SELECT count(*) FROM CANN_API JOIN TASK USING (connectionId) WHERE CANN_API.startNs = TASK.startNs - 500"),
      Rows{"3"});
  EXPECT_EQ(
      rows("SELECT t.value, u.value, count, totalNs, minNs, maxNs FROM OP_STATISTIC JOIN STRING_IDS t ON opType = "
           "t.id JOIN STRING_IDS u ON taskType = u.id"),
      Rows{"Add AI_VECTOR_CORE 1 1000 1000 1000"});
  EXPECT_EQ(rows("PRAGMA integrity_check"), Rows{"ok"});
  EXPECT_EQ(rows("SELECT type, sum(endNs - startNs) FROM OVERLAP_ANALYSIS GROUP BY type"),
            (Rows{"0 1000", "1 2500", "2 2000"}));
}

TEST_F(Msprof, RunsAProgramAndEndsAsItDoes) {
  const std::string output = "--output=" + (root / "made").string();
  CaptureStderr();
  EXPECT_EQ(run({output, "sh", "-c", "test \"$PROFILING_MODE\" = true && echo $PROFILING_OPTIONS > $0; exit 3",
                 (root / "told").string()}),
            3);
  EXPECT_NE(GetCapturedStderr().find("nothing was recorded"), std::string::npos);
  EXPECT_EQ(Json::parse(read(root / "told")).value("output", ""), (root / "made").string());
  EXPECT_EQ(run({output, "--application=true; exit 4", "--msproftx=on"}), 4);
  EXPECT_EQ(run({output, "--application=sh -c 'kill -9 $$'"}), 137);
  EXPECT_EQ(run({output, "--duration=1", "--application=sh -c 'exit 5'"}), 5);
  EXPECT_EQ(run({"--output=/proc/none", "true"}), 1);
  EXPECT_EQ(run({output, "--pid=1", "true"}), 1);
  EXPECT_EQ(run({output, "--application=true", "true"}), 1);
  EXPECT_EQ(run({output, "--pid=1"}), 1);
  EXPECT_EQ(run({output, "/no/such/program"}), 1);
}

TEST_F(Msprof, TakesTheWordsOfEarlierVersions) {
  write("device_0/data/anynpu.tasks", std::vector<TaskRecord>{task(0, 1, Unit::kVector, 0, 0)});
  EXPECT_EQ(run({"export", "summary", "-dir", folder.string()}), 0);
  EXPECT_NE(exported("op_summary"), "");
}

TEST_F(Msprof, ManyRecordsAreAllThere) {
  write_texts({"Add", "aclnnAdd_Add"});
  std::vector<TaskRecord> tasks;
  std::vector<CallRecord> calls;
  constexpr int kTasks = 10'000;  // more than a piece of any file, and no whole number of them
  for (int i = 0; i < kTasks; ++i) {
    tasks.push_back(task(1000 * i + 1000, 1000 * i + 1900, Unit::kVector, 1, 2));
    calls.push_back({kClock + 1000 * i + 100, kClock + 1000 * i + 700, 78, 2, Level::kOperator, 0});
  }
  std::ranges::rotate(tasks, tasks.begin() + 777);  // as of threads that write pieces in turn
  std::ranges::shuffle(calls, std::mt19937(1));
  write<TaskRecord>("device_0/data/anynpu.tasks", tasks);
  write<CallRecord>("host/data/anynpu.calls", calls);
  ASSERT_EQ(run({"--export=on", "--output=" + folder.string()}), 0);
  EXPECT_EQ(std::ranges::count(exported("op_summary_"), '\n'), kTasks + 1);
  const Json events = Json::parse(exported("msprof_", ".json"));
  EXPECT_EQ(std::ranges::count_if(events, [](const auto& event) { return event["ph"] == "f"; }), kTasks);
  fs::remove_all(folder / "mindstudio_profiler_output");
  ASSERT_EQ(run({"--export=on", "--type=perfetto", "--output=" + folder.string()}), 0);
  EXPECT_GT(exported("msprof_", ".perfetto-trace").size(), 50u * kTasks);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "mindstudio_profiler_output"), {}), 1);
  ASSERT_EQ(run({"--export=on", "--type=db", "--output=" + folder.string()}), 0);
  const auto file = std::ranges::find_if(fs::directory_iterator(folder), fs::directory_iterator(),
                                         [](const auto& entry) { return entry.path().extension() == ".db"; });
  EXPECT_EQ(rows(file->path(), "SELECT count(*), min(startNs), max(endNs) FROM TASK"),
            Rows{"10000 1700000000000001000 1700000000010000900"});
  for (const char* table : {"TASK", "CANN_API"})
    EXPECT_EQ(rows(file->path(), fmt::format("SELECT count(*) FROM {0} a JOIN {0} b ON b.connectionId = a.connectionId "
                                             "+ 1 WHERE b.startNs < a.startNs AND a.connectionId != 10000",
                                             table)
                                     .c_str()),
              Rows{"0"})
        << table;
  EXPECT_EQ(rows(file->path(), "SELECT count(*), count(DISTINCT connectionId) FROM CANN_API"), Rows{"20000 20000"});
}

TEST_F(Msprof, RefusesWhatItCannotRead) {
  const auto refused = [](std::vector<std::string> arguments, const char* part, int code = 1) {
    CaptureStderr();
    EXPECT_EQ(run(arguments), code);
    const std::string text = GetCapturedStderr();
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const std::string output = "--output=" + folder.string();
  refused({"--export=on", "--output=/nowhere"}, "is no folder");
  refused({"--export=on", "--output=" + (folder / "host").string()}, "holds no collection");
  refused({output}, "nothing is asked for");
  refused({"--export=on"}, "--output is missing");
  refused({"--exprt=on", output}, "--exprt=on is no option of msprof");
  refused({"--export=perhaps", output}, "--export", 2);
  write("host/start_info", "{}");
  refused({"--export=on", output}, "collectionTimeBegin");
  write("host/info.json", R"({"pid":"77","anynpu_format":2})");
  refused({"--export=on", output}, "this version");
  write("host/info.json", "not");
  refused({"--export=on", output}, "no JSON object");
}

}  // namespace
}  // namespace npu::profile
