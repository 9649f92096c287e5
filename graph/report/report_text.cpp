// SPDX-License-Identifier: Apache-2.0
// The report to read, and where it goes when the process ends.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "base/json.h"
#include "base/setting.h"
#include "graph/report/report.h"

namespace npu::graph {
namespace {

NPU_SETTING(std::string, report_to, "ANYNPU_REPORT", "",
            "What became of each function of TensorFlow, and which operators of PyTorch ran on the host, told when the "
            "process ends: 1 as text on stderr, a name ending in .json as JSON, another name as text in that file.");

constexpr const char* kHead = "{:<52} {:>6} {:>6} {:>5} {:>10} {:>11} {:>11} {:>6}\n";

std::string sized(int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  return bytes < 1 << 20 ? fmt::format("{:.1f} KiB", number / 1024) : fmt::format("{:.1f} MiB", number / (1 << 20));
}

/// How far the plan's memory is above what must be alive at one step.
std::string above(int64_t peak, int64_t live) {
  return live == 0 ? "-"
                   : fmt::format("{:+.1f}%", 100.0 * static_cast<double>(peak - live) / static_cast<double>(live));
}

std::string plural(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string Report::text_of(const std::string& name, const Entry& entry) {
  std::string out = fmt::format(fmt::runtime(kHead), name, entry.nodes, entry.host_nodes.size(), entry.plans,
                                fmt::format("{:.1f}", entry.compile_ms), sized(entry.peak_bytes),
                                sized(entry.live_bytes), above(entry.peak_bytes, entry.live_bytes));
  if (!entry.cache.empty()) out += fmt::format("    compile cache: {}\n", entry.cache);
  for (const auto& [op, host] : entry.host)
    out += fmt::format("    on the host: {}, {}, {} in and out: {}\n", op, plural(host.runs, "run"), sized(host.bytes),
                       host.reason);
  for (const auto& [pass, group, count] : entry.fusions) {
    out += fmt::format("    fused by {}: {} of {} matches\n", pass, count.effective, count.matched);
    for (const auto& [reason, times] : count.declined) out += fmt::format("      left {}: {}\n", times, reason);
  }
  for (const std::string& one : entry.segments) out += fmt::format("    gradients of {}\n", one);
  if (entry.collectives > 0) out += fmt::format("    meets other ranks {}\n", plural(entry.collectives, "time"));
  if (const auto& [count, busy, waited] = entry.overlap; count > 0)
    out += fmt::format("    beside other nodes: {} in {:.1f} ms, for which nodes waited {:.1f} ms\n",
                       plural(count, "collective"), busy, waited);
  for (const auto& [reason, times] : entry.unfused)
    out += fmt::format("    fused in vain: {}: {}\n", plural(times, "node"), reason);
  std::map<std::string_view, int64_t> dtypes;
  for (const NodePrecision& node : entry.precision) ++dtypes[name_of(node.compute)];
  for (const auto& [dtype, count] : dtypes) out += fmt::format("    in {}: {}\n", dtype, plural(count, "node"));
  if (entry.recompiles > 0) out += fmt::format("    compiled again {}, last:\n", plural(entry.recompiles, "time"));
  for (const std::string& cause : entry.causes) out += fmt::format("      {}\n", cause);
  return out;
}

std::string Report::text_of_operators() const {
  int64_t count = 0, on_host = 0;
  double milliseconds = 0;
  for (const auto& [name, entry] : functions_) {
    if (entry.role != Role::kOperator) continue;
    ++count, milliseconds += entry.compile_ms, on_host += entry.host_nodes.empty() ? 0 : 1;
  }
  if (count == 0) return "";
  return fmt::format("one by one: {}, {} of them on the host, {:.1f} ms of compiling\n", plural(count, "operator"),
                     on_host, milliseconds);
}

std::string Report::text() const {
  const std::lock_guard lock(mutex_);
  std::vector<const std::pair<const std::string, Entry>*> shown;
  for (const auto& one : functions_)
    if (one.second.role != Role::kOperator && one.second.plans > 0) shown.push_back(&one);
  // What cost most stands first.
  std::stable_sort(shown.begin(), shown.end(),
                   [](const auto* a, const auto* b) { return a->second.compile_ms > b->second.compile_ms; });
  std::string out = fmt::format("NPU {}: {}\n", device_, plural(static_cast<int64_t>(shown.size()), "function"));
  if (!shown.empty())
    out +=
        fmt::format(fmt::runtime(kHead), "function", "nodes", "host", "plans", "compile ms", "peak", "bound", "above");
  for (const auto* one : shown) out += text_of(one->first, one->second);
  return out + text_of_operators();
}

namespace {

std::string json_of(const std::vector<std::shared_ptr<const Report>>& reports) {
  auto functions = Json::array();
  for (const auto& report : reports) {
    const auto one = Json::parse(report->json());
    for (const auto& function : one["functions"]) functions.push_back(function);
  }
  return Json{{"functions", functions}}.dump(1) + "\n";
}

/// Reports of this process, kept past their libraries; never destroyed.
std::vector<std::shared_ptr<const Report>>& kept() {
  static auto& all = *new std::vector<std::shared_ptr<const Report>>;
  return all;
}

pid_t owner = 0;  // a forked child's end is not the end of the program

void write_kept() {
  if (getpid() == owner) write_reports(report_to(), kept());
}

}  // namespace

void write_reports(const std::string& where, const std::vector<std::shared_ptr<const Report>>& reports) {
  if (where.ends_with(".json")) {
    if (!(std::ofstream(where) << json_of(reports)))
      fmt::print(stderr, "anynpu: no report can be written to {}\n", where);
    return;
  }
  std::string text;
  for (const auto& report : reports) text += report->text();
  if (where == "1" || where == "true" || where == "on")
    fmt::print(stderr, "{}", text);
  else if (!(std::ofstream(where) << text))
    fmt::print(stderr, "anynpu: no report can be written to {}; it follows\n{}", where, text);
}

void report_at_exit(const std::shared_ptr<const Report>& report) {
  const std::string& where = report_to();
  if (where.empty() || where == "0" || where == "false" || where == "off") return;
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  if (kept().empty()) {
    owner = getpid();
    std::atexit(write_kept);
  }
  kept().push_back(report);
}

}  // namespace npu::graph
