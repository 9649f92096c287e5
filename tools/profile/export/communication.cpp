// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/communication.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace npu::profile {
namespace {

using nlohmann::json;

double milliseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; }
double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

json time_info(const TaskRecord& task) {
  const double elapsed = milliseconds(task.end - task.start);
  const double waited = std::min(elapsed, milliseconds(task.waited));
  return {{"Start Timestamp(us)", static_cast<double>(task.start) / 1e3},
          {"Elapse Time(ms)", elapsed},
          {"Transit Time(ms)", elapsed - waited},
          {"Wait Time(ms)", waited},
          {"Synchronization Time(ms)", waited},
          {"Idle Time(ms)", 0.0},
          {"Wait Time Ratio", ratio(waited, elapsed)},
          {"Synchronization Time Ratio", ratio(waited, elapsed)}};
}

json link(double megabytes, double time) {
  json distribution = json::object();
  if (megabytes > 0) distribution[fmt::format("{}", megabytes)] = {1, time};
  return {{"Transit Size(MB)", megabytes},
          {"Transit Time(ms)", megabytes > 0 ? time : 0.0},
          {"Bandwidth(GB/s)", megabytes > 0 ? ratio(megabytes, time) : 0.0},
          {"Large Packet Ratio", 0.0},
          {"Size Distribution", distribution}};
}

json bandwidth_info(const TaskRecord& task) {
  const double megabytes = static_cast<double>(task.bytes) / 1e6;
  const double time = milliseconds(std::max<int64_t>(0, task.end - task.start - task.waited));
  json links;
  for (const char* none : {"RDMA", "PCIE", "SIO"}) links[none] = link(0, 0);
  for (const char* shared : {"HCCS", "SDMA"}) links[shared] = link(megabytes, time);
  return links;
}

}  // namespace

bool has_collectives(const Trace& trace) {
  return std::ranges::any_of(trace.tasks,
                             [](const auto& one) { return std::ranges::any_of(one.second, is_collective); });
}

void write_communication(const Trace& trace, Sink& out) {
  json all = json::object();
  trace.each_task([&](int, const TaskRecord& task, uint64_t) {
    if (!is_collective(task)) return;
    std::string name = name_of(trace, task);
    const std::string base = name.substr(0, name.size() - 1);
    // Messages between two collectives have one number; their last one tells them apart.
    const auto key = [&] { return fmt::format("{}@{}", name, trace.text(task.graph)); };
    for (int i = 2; all.contains(key()); ++i) name = base + std::to_string(i);
    all[key()] = {{"Communication Time Info", time_info(task)}, {"Communication Bandwidth Info", bandwidth_info(task)}};
  });
  out << all.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace npu::profile
