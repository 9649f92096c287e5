// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/event_rows.h"

#include <fmt/format.h>

#include <unordered_map>

namespace npu::profile {
namespace {

using device::trace::Mark;
using Rows = Database::Rows;

/// What ENUM_MSTX_EVENT_TYPE names.
enum EventType : int { kMarker, kPushPop, kStartEnd, kMarkerEx };

EventType event_type(Mark kind) {
  return kind == Mark::kMoment ? kMarkerEx : kind == Mark::kNested ? kPushPop : kStartEnd;
}

constexpr const char* kSchema =
    "CREATE TABLE MSTX_EVENTS(startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,"
    " message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER);"
    "CREATE TABLE ENUM_MSTX_EVENT_TYPE(id INTEGER PRIMARY KEY, name TEXT);"
    "INSERT INTO ENUM_MSTX_EVENT_TYPE VALUES(0, 'marker'), (1, 'push/pop'), (2, 'start/end'), (3, 'marker_ex');";

}  // namespace

void write_mark_events(const Trace& trace, StringIds& ids, Database& database, uint64_t last) {
  if (trace.marks.empty()) return;
  database.run(kSchema);
  Rows tasks(database, "TASK",
             fmt::format("?,?,?,?,?,{},{},{},?,?,{}", trace.process, ids.of("MSTX"), kNobody, kNobody));
  Rows events(database, "MSTX_EVENTS", "?,?,?,?,NULL,?,?,?,?,?");
  std::unordered_map<uint64_t, uint64_t> connections;  // of marks that a stream came to
  for (const MarkRecord& mark : trace.marks) {
    if (mark.device < 0) continue;
    const uint64_t connection = connections[mark.number] = ++last;
    tasks.add(mark.start, mark.end, mark.device, connection, connection, mark.stream, mark.number);
  }
  for (const MarkRecord& mark : trace.marks) {
    if (mark.device >= 0 && mark.kind != Mark::kStep) continue;
    const auto found = connections.find(mark.number);
    const int64_t thread = int64_t{trace.process} << 32 | mark.thread;
    events.add(mark.start, mark.end, event_type(mark.kind), mark.number, ids.of(trace.text(mark.text)), thread, thread,
               ids.of(mark.domain == 0 ? "default" : trace.text(mark.domain)),
               found == connections.end() ? ++last : found->second);
  }
  tasks.finish();
  events.finish();
}

void write_memory_events(const Trace& trace, StringIds& ids, Database& database) {
  if (trace.memory.empty()) return;
  database.run("CREATE TABLE NPU_MEM(type INTEGER, ddr INTEGER, hbm INTEGER, timestampNs INTEGER, deviceId INTEGER)");
  Rows rows(database, "NPU_MEM", fmt::format("{},0,?,?,?", ids.of("app")));
  for (const MemoryRecord& record : trace.memory) rows.add(record.used, record.end, record.device);
  rows.finish();
}

}  // namespace npu::profile
