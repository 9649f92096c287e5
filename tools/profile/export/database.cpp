// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/database.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "tools/profile/export/sqlite.h"
#include "tools/profile/export/table.h"
#include "tools/profile/trace/interval.h"

namespace npu::profile {
namespace {

using device::trace::Level;

constexpr int64_t kNone = 4294967295;  // of models and contexts, where there is none

/// What ENUM_API_TYPE names.
enum ApiType : int { kAcl = 20000, kNode = 10000 };
/// The rows of the vendor's overlap analysis.
enum OverlapType : int { kComputing, kCommunication, kCommunicationAlone, kFree };

constexpr const char* kSchema =
    "CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE META_DATA(name TEXT, value TEXT);"
    "CREATE TABLE SESSION_TIME_INFO(startTimeNs INTEGER, endTimeNs INTEGER);"
    "CREATE TABLE NPU_INFO(id INTEGER, name TEXT);"
    "CREATE TABLE ENUM_API_TYPE(id INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE TASK(startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,"
    " globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);"
    "CREATE TABLE COMPUTE_TASK_INFO(name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum "
    "INTEGER,"
    " taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER,"
    " outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER, opState INTEGER,"
    " hf32Eligible INTEGER);"
    "CREATE TABLE COMMUNICATION_OP(opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER,"
    " groupName INTEGER, opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER,"
    " count INTEGER, opType INTEGER, deviceId INTEGER);"
    "CREATE TABLE CANN_API(startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER,"
    " name INTEGER);"
    "CREATE TABLE OVERLAP_ANALYSIS(id INTEGER PRIMARY KEY, deviceId INTEGER, startNs INTEGER, endNs INTEGER,"
    " type INTEGER);";
constexpr const char* kIndexes =
    "CREATE INDEX TaskIndex ON TASK(startNs, globalTaskId);"
    "CREATE INDEX TaskConnection ON TASK(connectionId);"
    "CREATE INDEX ApiConnection ON CANN_API(connectionId);";

using Rows = Database::Rows;

class Writer {
 public:
  Writer(const Trace& trace, Database& database)
      : trace_(trace),
        database_(database),
        strings_(database, "STRING_IDS", 2),
        tasks_(database, "TASK", 11),
        operators_(database, "COMPUTE_TASK_INFO", 15),
        collectives_(database, "COMMUNICATION_OP", 13),
        calls_(database, "CANN_API", 6) {}

  void write() {
    int64_t end = trace_.begin;
    trace_.each_task([&](int device, const TaskRecord& task, uint64_t connection) {
      write_task(device, task, connection);
      end = std::max(end, task.end);
    });
    for (const CallRecord& call : trace_.calls) {
      calls_.add(call.start, call.end, call.level == Level::kRuntime ? kAcl : kNode, thread(call.thread), ++last_,
                 string(name_of(trace_, call)));
      end = std::max(end, call.end);
    }
    write_overlap();
    Rows(database_, "SESSION_TIME_INFO", 2).add(trace_.begin, end);
    Rows meta(database_, "META_DATA", 2);
    meta.add("SCHEMA_VERSION", "1.1.0");
    meta.add("SCHEMA_VERSION_MAJOR", "1");
    meta.add("SCHEMA_VERSION_MINOR", "1");
    meta.add("SCHEMA_VERSION_MICRO", "0");
    Rows types(database_, "ENUM_API_TYPE", 2);
    types.add(kAcl, "acl");
    types.add(kNode, "node");
    Rows chips(database_, "NPU_INFO", 2);
    for (const auto& [device, tasks] : trace_.tasks) chips.add(device, "AnyNPU");
  }

 private:
  int64_t string(std::string_view text) {
    const auto [at, is_new] = numbers_.try_emplace(std::string(text), static_cast<int64_t>(numbers_.size()));
    if (is_new) strings_.add(at->second, text);
    return at->second;
  }
  int64_t thread(uint32_t number) const { return int64_t{trace_.process} << 32 | number; }

  void write_task(int device, const TaskRecord& task, uint64_t connection) {
    last_ = connection;
    tasks_.add(task.start, task.end, device, connection, connection, trace_.process, string(unit_name(task)), kNone,
               task.stream, task.number, kNone);
    if (task.launched != 0)
      calls_.add(task.launched, task.launched, kNode, thread(task.launcher), connection, string("launch"));
    if (is_collective(task)) {
      collectives_.add(string(name_of(trace_, task)), task.start, task.end, connection, string(trace_.text(task.graph)),
                       connection, nullptr, nullptr, string("N/A"), string("N/A"), nullptr,
                       string(trace_.text(task.type)), device);
    } else if (computes(task)) {
      const auto inputs = parts_of(trace_.text(task.inputs)), outputs = parts_of(trace_.text(task.outputs));
      operators_.add(string(name_of(trace_, task)), connection, nullptr, nullptr, string(unit_name(task)),
                     string(trace_.text(task.type)), string(inputs[2]), string(inputs[1]), string(inputs[0]),
                     string(outputs[2]), string(outputs[1]), string(outputs[0]), string("N/A"), string("static"),
                     string("NO"));
    }
  }

  void write_overlap() {
    Rows rows(database_, "OVERLAP_ANALYSIS", 5);
    int64_t number = 0;
    for (const auto& [device, tasks] : trace_.tasks) {
      const Overlap found = overlap_of(tasks);
      for (const auto& [type, intervals] :
           std::array<std::pair<OverlapType, const Intervals*>, 4>{{{kComputing, &found.computing},
                                                                    {kCommunication, &found.communication},
                                                                    {kCommunicationAlone, &found.communication_alone},
                                                                    {kFree, &found.free}}})
        for (const Interval& one : *intervals) rows.add(++number, device, one.start, one.end, type);
    }
  }

  const Trace& trace_;
  Database& database_;
  Rows strings_, tasks_, operators_, collectives_, calls_;
  std::unordered_map<std::string, int64_t> numbers_;
  uint64_t last_ = 0;
};

}  // namespace

void write_database(const Trace& trace, const Draft& draft) {
  Database database(draft);
  database.run("BEGIN");
  database.run(kSchema);
  Writer(trace, database).write();
  database.run("COMMIT");
  database.run(kIndexes);
}

}  // namespace npu::profile
