// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/communication.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <vector>

#include "tools/profile/export/sqlite.h"

namespace npu::profile {
namespace {

using nlohmann::json;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// In the units of both files: microseconds since 1970, milliseconds, megabytes.
struct Collective {
  std::string name;
  std::string_view group;
  double start, elapsed, waited, transit, megabytes;
  double bandwidth() const { return megabytes > 0 ? ratio(megabytes, transit) : 0; }  ///< GB/s
};
/// Links that carry what a rank gives, and those that none has here.
constexpr const char* kUsedLinks[] = {"HCCS", "SDMA"};
constexpr const char* kOtherLinks[] = {"RDMA", "PCIE", "SIO"};

std::vector<Collective> collectives_of(const Trace& trace) {
  std::vector<Collective> all;
  std::unordered_map<std::string, int> seen;
  trace.each_task([&](int, const TaskRecord& task, uint64_t) {
    if (!is_collective(task)) return;
    std::string name = name_of(trace, task);
    const std::string_view group = trace.text(task.graph);
    // Messages between two collectives have one number; their last one tells them apart.
    const int nth = ++seen[fmt::format("{}@{}", name, group)];
    if (nth > 1) name.replace(name.size() - 1, 1, std::to_string(nth));
    const auto milliseconds = [](int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; };
    const int64_t elapsed = task.end - task.start, waited = std::clamp<int64_t>(task.waited, 0, elapsed);
    all.push_back({std::move(name), group, static_cast<double>(task.start) / 1e3, milliseconds(elapsed),
                   milliseconds(waited), milliseconds(elapsed - waited), static_cast<double>(task.bytes) / 1e6});
  });
  return all;
}

json time_info(const Collective& one) {
  return {{"Start Timestamp(us)", one.start},
          {"Elapse Time(ms)", one.elapsed},
          {"Transit Time(ms)", one.transit},
          {"Wait Time(ms)", one.waited},
          {"Synchronization Time(ms)", one.waited},
          {"Idle Time(ms)", 0.0},
          {"Wait Time Ratio", ratio(one.waited, one.elapsed)},
          {"Synchronization Time Ratio", ratio(one.waited, one.elapsed)}};
}

json link(double megabytes, double time, double bandwidth) {
  json distribution = json::object();
  if (megabytes > 0) distribution[fmt::format("{}", megabytes)] = {1, time};
  return {{"Transit Size(MB)", megabytes},
          {"Transit Time(ms)", megabytes > 0 ? time : 0.0},
          {"Bandwidth(GB/s)", bandwidth},
          {"Large Packet Ratio", 0.0},
          {"Size Distribution", distribution}};
}

json bandwidth_info(const Collective& one) {
  json links;
  for (const char* none : kOtherLinks) links[none] = link(0, 0, 0);
  for (const char* shared : kUsedLinks) links[shared] = link(one.megabytes, one.transit, one.bandwidth());
  return links;
}

constexpr const char* kSchema =
    "CREATE TABLE CommAnalyzerTime(hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, elapse_time NUMERIC,"
    " transit_time NUMERIC, wait_time NUMERIC, synchronization_time NUMERIC, idle_time NUMERIC);"
    "CREATE TABLE CommAnalyzerBandwidth(hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC,"
    " transit_time NUMERIC, bandwidth NUMERIC, large_packet_ratio NUMERIC, package_size NUMERIC, count NUMERIC,"
    " total_duration NUMERIC);"
    "CREATE TABLE CommAnalyzerMatrix(hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT,"
    " transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC);";

}  // namespace

bool has_collectives(const Trace& trace) {
  return std::ranges::any_of(trace.tasks,
                             [](const auto& one) { return std::ranges::any_of(one.second, is_collective); });
}

void write_communication(const Trace& trace, Sink& out) {
  json all = json::object();
  for (const Collective& one : collectives_of(trace))
    all[fmt::format("{}@{}", one.name, one.group)] = {{"Communication Time Info", time_info(one)},
                                                      {"Communication Bandwidth Info", bandwidth_info(one)}};
  out << all.dump(-1, ' ', false, json::error_handler_t::replace);
}

void write_communication(const Trace& trace, const Draft& draft) {
  Database database(draft);
  database.run("BEGIN");
  database.run(kSchema);
  Database::Rows times(database, "CommAnalyzerTime", "?,?,?,?,?,?,?,0"),
      links(database, "CommAnalyzerBandwidth", "?,?,?,?,?,?,0,?,1,?");
  for (const Collective& one : collectives_of(trace)) {
    times.add(one.name, one.group, one.start, one.elapsed, one.transit, one.waited, one.waited);
    if (one.megabytes > 0)
      for (const char* link : kUsedLinks)
        links.add(one.name, one.group, link, one.megabytes, one.transit, one.bandwidth(), one.megabytes, one.transit);
  }
  times.finish();
  links.finish();
  database.run("COMMIT");
}

}  // namespace npu::profile
