// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "tools/profile/export/event_rows.h"
#include "tools/profile/export/sqlite.h"
#include "tools/profile/export/statistic.h"
#include "tools/profile/export/string_ids.h"
#include "tools/profile/trace/interval.h"
#include "tools/profile/trace/ranks.h"

namespace npu::profile {
namespace {

using device::trace::Level;

/// What ENUM_API_TYPE names.
enum ApiType : int { kAcl = 20000, kModel = 15000, kNode = 10000 };
/// The rows of the vendor's overlap analysis.
enum OverlapType : int { kComputing, kCommunication, kCommunicationAlone, kFree };

constexpr const char* kSchema =
    "CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE META_DATA(name TEXT, value TEXT);"
    "CREATE TABLE SESSION_TIME_INFO(startTimeNs INTEGER, endTimeNs INTEGER);"
    "CREATE TABLE NPU_INFO(id INTEGER, name TEXT);"
    "CREATE TABLE RANK_DEVICE_MAP(rankId INTEGER, deviceId INTEGER);"
    "CREATE TABLE ENUM_API_TYPE(id INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE TASK(startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER PRIMARY KEY,"
    " globalTaskId INTEGER,"
    " globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);"
    "CREATE TABLE COMPUTE_TASK_INFO(name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum "
    "INTEGER,"
    " taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER,"
    " outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER, opState INTEGER,"
    " hf32Eligible INTEGER);"
    "CREATE TABLE COMMUNICATION_OP(opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER,"
    " groupName INTEGER, opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER,"
    " count INTEGER, opType INTEGER, deviceId INTEGER);"
    "CREATE TABLE OP_STATISTIC(deviceId INTEGER, opType INTEGER, taskType INTEGER, count INTEGER, totalNs INTEGER,"
    " minNs INTEGER, maxNs INTEGER);"
    "CREATE TABLE CANN_API(startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,"
    " connectionId INTEGER PRIMARY KEY, name INTEGER);"
    "CREATE TABLE GRAPH_WORK(connectionId INTEGER PRIMARY KEY, deviceId INTEGER, function INTEGER, node INTEGER,"
    " type INTEGER, need INTEGER, reason INTEGER, bytes INTEGER);"
    "CREATE TABLE OVERLAP_ANALYSIS(id INTEGER PRIMARY KEY, deviceId INTEGER, startNs INTEGER, endNs INTEGER,"
    " type INTEGER);";
constexpr const char* kIndex = "CREATE INDEX TaskIndex ON TASK(startNs, globalTaskId)";

using Rows = Database::Rows;

/// TASK, COMPUTE_TASK_INFO, COMMUNICATION_OP.
class Tasks {
 public:
  Tasks(const Trace& trace, StringIds& ids, Database& database)
      : trace_(trace),
        ids_(trace, ids),
        tasks_(database, "TASK", fmt::format("?,?,?,?,?,{},?,{},?,?,{}", trace.process, kNobody, kNobody)),
        operators_(
            database, "COMPUTE_TASK_INFO",
            fmt::format("?,?,NULL,NULL,?,?,?,?,?,?,?,?,{},{},{}", ids.of("N/A"), ids.of("static"), ids.of("NO"))),
        collectives_(database, "COMMUNICATION_OP",
                     fmt::format("?,?,?,?,?,?,NULL,NULL,{0},{0},NULL,?,?", ids.of("N/A"))) {}

  void write() {
    trace_.each_task([&](int device, const TaskRecord& task, uint64_t connection) { add(device, task, connection); });
    for (Rows* rows : {&tasks_, &operators_, &collectives_}) rows->finish();
  }

 private:
  void add(int device, const TaskRecord& task, uint64_t connection) {
    tasks_.add(task.start, task.end, device, connection, connection, ids_.unit(task), task.stream, task.number);
    if (is_collective(task)) {
      collectives_.add(ids_.name(task), task.start, task.end, connection, ids_.text(task.graph), connection,
                       ids_.text(task.type), device);
    } else if (computes(task)) {
      const auto &inputs = ids_.parts(task.inputs), &outputs = ids_.parts(task.outputs);
      operators_.add(ids_.name(task), connection, ids_.unit(task), ids_.text(task.type), inputs[2], inputs[1],
                     inputs[0], outputs[2], outputs[1], outputs[0]);
    }
  }

  const Trace& trace_;
  TextIds ids_;
  Rows tasks_, operators_, collectives_;
};

/// CANN_API: what queued tasks, then calls, then what the host did for graphs, of which GRAPH_WORK tells more. The last
/// connection.
uint64_t write_calls(const Trace& trace, StringIds& ids, Database& database) {
  TextIds known(trace, ids);
  Rows calls(database, "CANN_API", "?,?,?,?,?,?");
  const int64_t launch = ids.of("launch");
  const auto thread = [&](uint32_t number) { return int64_t{trace.process} << 32 | number; };
  uint64_t last = 0;
  trace.each_task([&](int, const TaskRecord& task, uint64_t connection) {
    last = connection;
    if (task.launched != 0) calls.add(task.launched, task.launched, kNode, thread(task.launcher), connection, launch);
  });
  for (const CallRecord& call : trace.calls)
    calls.add(call.start, call.end, call.level == Level::kRuntime ? kAcl : kNode, thread(call.thread), ++last,
              known.name(call));
  Rows works(database, "GRAPH_WORK", "?,?,?,?,?,?,?,?");
  for (const GraphRecord& work : trace.graphs) {
    calls.add(work.start, work.end, kModel, thread(work.thread), ++last, ids.of(name_of(trace, work)));
    works.add(last, work.device, known.text(work.graph), known.text(work.name), known.text(work.type),
              ids.of(words_of(work.need)), known.text(work.reason), work.bytes);
  }
  calls.finish();
  works.finish();
  return last;
}

void write_overlap(const Trace& trace, Database& database) {
  Rows rows(database, "OVERLAP_ANALYSIS", "NULL,?,?,?,?");
  for (const auto& [device, tasks] : trace.tasks) {
    const Overlap found = overlap_of(tasks);
    for (const auto& [type, intervals] :
         std::array<std::pair<OverlapType, const Intervals*>, 4>{{{kComputing, &found.computing},
                                                                  {kCommunication, &found.communication},
                                                                  {kCommunicationAlone, &found.communication_alone},
                                                                  {kFree, &found.free}}})
      for (const Interval& one : *intervals) rows.add(device, one.start, one.end, type);
  }
  rows.finish();
}

void write_statistic(const Trace& trace, StringIds& ids, Database& database) {
  Rows rows(database, "OP_STATISTIC", "?,?,?,?,?,?,?");
  for (const auto& [key, sum] : operator_sums(trace)) {
    const auto& [device, type, unit] = key;
    rows.add(device, ids.of(type), ids.of(unit), sum.count, sum.total, sum.least, sum.most);
  }
  rows.finish();
}

int64_t end_of(const Trace& trace) {
  int64_t end = trace.begin;
  for (const auto& [device, tasks] : trace.tasks)
    for (const TaskRecord& task : tasks) end = std::max(end, task.end);
  for (const CallRecord& call : trace.calls) end = std::max(end, call.end);
  return end;
}

template <class... Values>
void write_one(Database& database, const char* table, const Values&... values) {
  Rows row(database, table, sizeof...(values) == 2 ? "?,?" : "?");
  row.add(values...);
  row.finish();
}

void write_session(const Trace& trace, Database& database) {
  write_one(database, "SESSION_TIME_INFO", trace.begin, end_of(trace));
  write_one(database, "META_DATA", "SCHEMA_VERSION", "1.1.0");
  write_one(database, "META_DATA", "SCHEMA_VERSION_MAJOR", "1");
  write_one(database, "META_DATA", "SCHEMA_VERSION_MINOR", "1");
  write_one(database, "META_DATA", "SCHEMA_VERSION_MICRO", "0");
  write_one(database, "ENUM_API_TYPE", kAcl, "acl");
  write_one(database, "ENUM_API_TYPE", kModel, "model");
  write_one(database, "ENUM_API_TYPE", kNode, "node");
  for (const auto& [device, tasks] : trace.tasks) write_one(database, "NPU_INFO", device, "AnyNPU");
  for (const auto& [device, tasks] : trace.tasks) write_one(database, "RANK_DEVICE_MAP", trace.rank, device);
  if (!trace.is_of_torch && !trace.groups.empty())
    write_one(database, "META_DATA", "parallel_group_info", parallel_groups(trace));
}

}  // namespace

void write_database(const Trace& trace, const Draft& draft) {
  Database database(draft);
  database.run("BEGIN");
  database.run(kSchema);
  StringIds ids;
  Tasks(trace, ids, database).write();
  const uint64_t last = write_calls(trace, ids, database);
  write_mark_events(trace, ids, database, last);
  write_memory_events(trace, ids, database);
  write_overlap(trace, database);
  write_statistic(trace, ids, database);
  write_session(trace, database);
  ids.write(database);
  database.run("COMMIT");
  database.run(kIndex);
}

}  // namespace npu::profile
