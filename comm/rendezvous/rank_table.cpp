// SPDX-License-Identifier: Apache-2.0
#include "comm/rendezvous/rank_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/json_text.h"
#include "base/log.h"
#include "comm/core/fault.h"
#include "comm/rendezvous/network.h"

namespace npu::comm {
namespace {

constexpr auto kTorn = std::chrono::seconds(1);  // so long half a table is read again

/// A place in the table, for texts: "server_list[0].device[2]".
class Reader {
 public:
  Reader(const Json& value, std::string source, std::string place)
      : value_(value), source_(std::move(source)), place_(std::move(place)) {
    if (!value.is_object()) refuse("it is no object {…}");
  }

  [[noreturn]] void refuse(const std::string& what) const {
    fault(Result::kParameter, "EI0004: {}: {}{}", source_, place_.empty() ? "" : place_ + ": ", what);
  }
  bool has(const char* key) const { return value_.contains(key); }
  std::string text(const char* key) const {
    if (!has(key)) refuse(fmt::format("'{}' is missing", key));
    const Json& found = value_.at(key);
    if (found.is_string()) return found.get<std::string>();
    if (!found.is_number_integer()) refuse(fmt::format("'{}' is {}; it is a text", key, found.dump()));
    NPU_LOG(kWarning, "HCCL", "{}: {}: '{}' is a number; the vendor's tools want a text", source_, place_, key);
    return found.dump();
  }
  std::string text(const char* key, const std::string& otherwise) const { return has(key) ? text(key) : otherwise; }
  int32_t number(const char* key) const {
    const std::string digits = text(key);
    int32_t out = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (error != std::errc() || end != digits.data() + digits.size() || out < 0)
      refuse(fmt::format("'{}' is '{}'; it is a number from 0 on", key, digits));
    return out;
  }
  std::vector<Reader> list(const char* key) const {
    if (!has(key) || !value_.at(key).is_array()) refuse(fmt::format("the list '{}' is missing", key));
    std::vector<Reader> out;
    for (const Json& each : value_.at(key))
      out.emplace_back(each, source_, fmt::format("{}{}{}[{}]", place_, place_.empty() ? "" : ".", key, out.size()));
    return out;
  }
  /// `key` says how many entries a list has.
  void check_count(const char* key, size_t entries, const char* list) const {
    if (has(key) && static_cast<size_t>(number(key)) != entries)
      refuse(fmt::format("'{}' is {}, but {} has {} entries", key, number(key), list, entries));
  }

 private:
  const Json& value_;
  std::string source_, place_;
};

std::string address_among(const std::string& host_ip, const std::string& server) {
  for (const std::string& each : {host_ip, server})
    if (is_address(each)) return each;
  return "";
}

/// Servers by name, their devices, and the addresses of all devices: none stands twice.
struct Servers {
  std::map<std::string, std::set<int32_t>> devices;
  std::set<std::string> addresses;

  /// The device_id of the entry `at`.
  int32_t add(const Reader& at, const std::string& server) {
    const int32_t device = at.number("device_id");
    if (!devices[server].insert(device).second)
      at.refuse(fmt::format("device_id {} stands twice on server '{}'", device, server));
    add_address(at, at.text("device_ip", ""));
    return device;
  }

 private:
  void add_address(const Reader& at, const std::string& address) {
    if (address.empty()) return;  // its network card is not used
    if (!is_address(address))
      at.refuse(
          fmt::format("device_ip is '{}', which is no IPv4 or IPv6 address; correct it, or leave it empty", address));
    if (!addresses.insert(address).second)
      at.refuse(fmt::format("device_ip {} stands twice; each device has its own", address));
  }
};

void read_servers(const Reader& table, Servers& servers, std::map<int32_t, TableRank>& ranks) {
  const std::vector<Reader> list = table.list("server_list");
  table.check_count("server_count", list.size(), "server_list");
  for (const Reader& server : list) {
    const std::string id = server.text("server_id");
    if (servers.devices.contains(id)) server.refuse(fmt::format("server_id '{}' stands twice", id));
    const std::string address = address_among(server.text("host_ip", ""), id);
    for (const Reader& device : server.list("device")) {
      const int32_t rank = device.number("rank_id");
      if (!ranks.emplace(rank, TableRank{servers.add(device, id), id, address, ""}).second)
        device.refuse(fmt::format("rank_id {} stands twice", rank));
    }
  }
}

void read_groups(const Reader& table, std::map<int32_t, TableRank>& ranks) {
  Servers servers;
  std::set<std::string> pods;
  std::vector<TableRank> all;
  const std::vector<Reader> groups = table.list("group_list");
  table.check_count("group_count", groups.size(), "group_list");
  for (const Reader& group : groups) {
    const std::vector<Reader> instances = group.list("instance_list");
    group.check_count("instance_count", instances.size(), "instance_list");
    size_t devices = 0;
    for (const Reader& instance : instances) {
      const std::string pod = instance.text("pod_name"), server = instance.text("server_id");
      if (!pods.insert(pod).second) instance.refuse(fmt::format("pod_name '{}' stands twice", pod));
      for (const Reader& device : instance.list("devices")) {
        all.push_back({servers.add(device, server), server, address_among("", server), pod});
        ++devices;
      }
    }
    group.check_count("device_count", devices, "devices of the group");
  }
  // All groups are one world. Ranks follow the servers as they appear, and the devices of each.
  std::map<std::string, size_t> order;
  for (const TableRank& each : all) order.try_emplace(each.server, order.size());
  std::ranges::stable_sort(all, {}, [&](const TableRank& each) { return std::pair(order[each.server], each.device); });
  for (TableRank& each : all) ranks.emplace(static_cast<int32_t>(ranks.size()), std::move(each));
}

/// Whether the table may be used; one that is being made is read again.
bool complete(const Reader& table) {
  if (!table.has("status")) table.refuse(R"('status' is missing; a table that may be used has "status": "completed")");
  const std::string status = table.text("status");
  if (status != "completed" && status != "initializing")
    table.refuse(fmt::format("status is '{}'; it is completed, or initializing while the table is being made", status));
  return status == "completed";
}

/// Template 1 has a version, the older template 2 has none.
bool has_groups(const Reader& table) {
  const std::string version = table.text("version", "");
  if (!version.empty() && version != "1.0" && version != "1.2")
    table.refuse(
        fmt::format("version is '{}'; known are 1.0, 1.2 (with super pods), and no version with group_list", version));
  if (table.has("server_list")) return false;
  if (table.has("group_count") && !table.has("group_list"))
    table.refuse("the list 'group_list' is missing; group_count says that this is a table of groups");
  return table.has("group_list");
}

}  // namespace

RankTable parse_rank_table(std::string_view text, const std::string& source) {
  Json root;
  try {
    root = Json::parse(strict_json(text));
  } catch (const JsonParseError& error) {
    fault(Result::kParameter, "EI0004: {}: no JSON: {}", source, error.what());
  }
  const Reader table(root, source, "");
  RankTable out;
  out.complete = complete(table);
  if (!out.complete) return out;
  std::map<int32_t, TableRank> ranks;
  Servers servers;
  if (has_groups(table))
    read_groups(table, ranks);
  else
    read_servers(table, servers, ranks);
  if (ranks.empty()) table.refuse("there is no rank");
  for (auto& [rank, entry] : ranks) {
    if (rank != static_cast<int32_t>(out.ranks.size()))
      table.refuse(fmt::format("rank_id {} is missing; ranks are 0 to {}", out.ranks.size(), ranks.size() - 1));
    out.ranks.push_back(std::move(entry));
  }
  return out;
}

void take_ranks(RankTable& table, uint32_t size, const std::string& source) {
  if (size == 0) return;
  if (size > table.ranks.size())
    fault(Result::kParameter,
          "EI0001: RANK_SIZE is {}, but the rank table {} has {} ranks; correct one of them, or unset RANK_SIZE", size,
          source, table.ranks.size());
  table.ranks.resize(size);
}

uint32_t rank_in(const RankTable& table, const std::string& rank_id, int32_t device, const std::string& source) {
  uint32_t rank = 0;
  const auto [end, error] = std::from_chars(rank_id.data(), rank_id.data() + rank_id.size(), rank);
  const bool number = error == std::errc() && end == rank_id.data() + rank_id.size();
  if (!table.ranks.empty() && !table.ranks[0].pod.empty()) {
    for (uint32_t i = 0; i < table.ranks.size(); ++i)
      if (table.ranks[i].pod == rank_id && (device < 0 || table.ranks[i].device == device)) return i;
    fault(Result::kParameter, "EI0004: {}: RANK_ID is '{}', but no pod_name is, with device {}", source, rank_id,
          device);
  }
  if (!number || rank >= table.ranks.size())
    fault(Result::kParameter, "EI0004: {}: RANK_ID is '{}'; the ranks are 0 to {}", source, rank_id,
          table.ranks.size() - 1);
  return rank;
}

RankTable read_rank_table(const std::string& path, int64_t seconds) {
  using std::chrono::steady_clock;
  const auto start = steady_clock::now(), deadline = start + std::chrono::seconds(seconds);
  for (;;) {
    const std::optional<std::string> read = whole_file(path);
    if (!read && errno == EISDIR)
      fault(Result::kOpenFile, "EI0004: the rank table {} is a folder; set RANK_TABLE_FILE to the file in it", path);
    if (!read) fault(Result::kOpenFile, "EI0004: the rank table {} cannot be opened; check RANK_TABLE_FILE", path);
    const std::string& text = *read;
    // Half a file may be one that is being written in place.
    const bool torn = !Json::try_parse(text) && steady_clock::now() < std::min(start + kTorn, deadline);
    RankTable table = torn ? RankTable{false, {}} : parse_rank_table(text, path);
    if (table.complete) return table;
    if (!torn && steady_clock::now() >= deadline)
      fault(Result::kTimeout, "EI0004: {}: status is not \"completed\" after {} s; who writes it has not ended", path,
            seconds);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace npu::comm
