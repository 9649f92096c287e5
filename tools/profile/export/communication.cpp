// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/communication.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "tools/profile/export/sqlite.h"

namespace npu::profile {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

double megabytes_of(uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

/// In the units of all files: microseconds since 1970, milliseconds, megabytes.
struct Collective {
  std::string name, group;
  double start, elapsed, waited, transit, megabytes = 0;
  std::map<double, uint64_t> pieces = {};  ///< how many, by their mean size on a link
  std::vector<const LinkRecord*> links = {};
  double bandwidth() const { return bandwidth_of(megabytes); }
  double bandwidth_of(double size) const { return size > 0 ? ratio(size, transit) : 0; }  ///< GB/s

  void carry(const LinkRecord& link) {
    links.push_back(&link);
    if (link.from == link.to) return;
    const double size = megabytes_of(link.bytes);
    megabytes += size;
    pieces[size / static_cast<double>(std::max<uint64_t>(link.pieces, 1))] += link.pieces;
  }
};

/// Links of a collective, by what it is found again by.
class Links {
 public:
  explicit Links(const Trace& trace) {
    for (const LinkRecord& link : trace.links)
      by_place_[{link.device, link.stream, link.group, link.number}].push_back(&link);
  }
  /// Those of a task: of several with one number, which messages may have, the ones within its time.
  void give_to(Collective& collective, int device, const TaskRecord& task) const {
    const auto found = by_place_.find({device, task.stream, task.graph, task.step});
    if (found == by_place_.end()) return;
    for (const LinkRecord* link : found->second)
      if (link->start >= task.start && link->end <= task.end) collective.carry(*link);
  }

 private:
  std::map<std::tuple<int, int32_t, uint32_t, uint32_t>, std::vector<const LinkRecord*>> by_place_;
};
/// Links that carry what a rank gives, and those that none has here.
constexpr const char* kUsedLinks[] = {"HCCS", "SDMA"};
constexpr const char* kOtherLinks[] = {"RDMA", "PCIE", "SIO"};

std::vector<Collective> collectives_of(const Trace& trace) {
  std::vector<Collective> all;
  std::unordered_map<std::string, int> seen;
  const Links links(trace);
  trace.each_task([&](int device, const TaskRecord& task, uint64_t) {
    if (!is_collective(task)) return;
    std::string name = name_of(trace, task), group = std::to_string(number_of_group(trace.text(task.graph)));
    // Messages between two collectives have one number; their last one tells them apart.
    const int nth = ++seen[fmt::format("{}@{}", name, group)];
    if (nth > 1) name.replace(name.size() - 1, 1, std::to_string(nth));
    const auto milliseconds = [](int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; };
    const int64_t elapsed = task.end - task.start, waited = std::clamp<int64_t>(task.waited, 0, elapsed);
    Collective& made =
        all.emplace_back(Collective{std::move(name), std::move(group), static_cast<double>(task.start) / 1e3,
                                    milliseconds(elapsed), milliseconds(waited), milliseconds(elapsed - waited)});
    links.give_to(made, device, task);
    if (!trace.links.empty() || task.bytes == 0) return;
    made.megabytes = megabytes_of(task.bytes);
    made.pieces[made.megabytes] = 1;
  });
  return all;
}

Json time_info(const Collective& one) {
  return {{"Start Timestamp(us)", one.start},
          {"Elapse Time(ms)", one.elapsed},
          {"Transit Time(ms)", one.transit},
          {"Wait Time(ms)", one.waited},
          {"Synchronization Time(ms)", one.waited},
          {"Idle Time(ms)", 0.0},
          {"Wait Time Ratio", ratio(one.waited, one.elapsed)},
          {"Synchronization Time Ratio", ratio(one.waited, one.elapsed)}};
}

/// The part of the transit that pieces of a size took, by their share of the bytes.
double time_of(const Collective& one, double size, uint64_t count) {
  return one.transit * ratio(size * static_cast<double>(count), one.megabytes);
}

Json used_link(const Collective& one) {
  Json distribution = Json::object();
  for (const auto& [size, count] : one.pieces)
    distribution[fmt::format("{}", size)] = {count, time_of(one, size, count)};
  return {{"Transit Size(MB)", one.megabytes},
          {"Transit Time(ms)", one.megabytes > 0 ? one.transit : 0.0},
          {"Bandwidth(GB/s)", one.bandwidth()},
          {"Large Packet Ratio", 0.0},
          {"Size Distribution", distribution}};
}

Json bandwidth_info(const Collective& one) {
  Json links;
  for (const char* none : kOtherLinks) links[none] = used_link({});
  for (const char* shared : kUsedLinks) links[shared] = used_link(one);
  return links;
}

/// HCCS stands for all links within a host.
const char* transport_of(const LinkRecord& link) { return link.from == link.to ? "LOCAL" : "HCCS"; }

Json matrix_of(const Collective& one) {
  Json links = Json::object();
  for (const LinkRecord* link : one.links) {
    const double size = megabytes_of(link->bytes);
    links[fmt::format("{}-{}", link->from, link->to)] = {{"Transport Type", transport_of(*link)},
                                                         {"Transit Time(ms)", one.transit},
                                                         {"Transit Size(MB)", size},
                                                         {"Bandwidth(GB/s)", one.bandwidth_of(size)}};
  }
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
  Json all = Json::object();
  for (const Collective& one : collectives_of(trace))
    all[fmt::format("{}@{}", one.name, one.group)] = {{"Communication Time Info", time_info(one)},
                                                      {"Communication Bandwidth Info", bandwidth_info(one)}};
  out << all.dump(-1, InvalidUtf8::kReplace);
}

void write_matrix(const Trace& trace, Sink& out) {
  Json all = Json::object();
  for (const Collective& one : collectives_of(trace))
    if (!one.links.empty()) all[fmt::format("{}@{}", one.name, one.group)] = matrix_of(one);
  out << all.dump(-1, InvalidUtf8::kReplace);
}

void write_communication(const Trace& trace, const Draft& draft) {
  Database database(draft);
  database.run("BEGIN");
  database.run(kSchema);
  Database::Rows times(database, "CommAnalyzerTime", "?,?,?,?,?,?,?,0"),
      bandwidths(database, "CommAnalyzerBandwidth", "?,?,?,?,?,?,0,?,?,?"),
      matrix(database, "CommAnalyzerMatrix", "?,?,?,?,?,?,?,?");
  for (const Collective& one : collectives_of(trace)) {
    times.add(one.name, one.group, one.start, one.elapsed, one.transit, one.waited, one.waited);
    for (const auto& [size, count] : one.pieces)
      for (const char* link : kUsedLinks)
        bandwidths.add(one.name, one.group, link, one.megabytes, one.transit, one.bandwidth(), size, count,
                       time_of(one, size, count));
    for (const LinkRecord* link : one.links) {
      const double size = megabytes_of(link->bytes);
      matrix.add(one.name, one.group, std::to_string(link->from), std::to_string(link->to), transport_of(*link), size,
                 one.transit, one.bandwidth_of(size));
    }
  }
  for (Database::Rows* rows : {&times, &bandwidths, &matrix}) rows->finish();
  database.run("COMMIT");
}

}  // namespace npu::profile
