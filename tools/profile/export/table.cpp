// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "tools/profile/export/communication.h"

namespace npu::profile {
namespace {

using device::trace::Level;
using device::trace::Unit;

double us(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }
/// In whole numbers: a double has not the digits of a time since 1970.
std::string microseconds(int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

bool is_operator(const TaskRecord& task) { return task.unit != Unit::kNone; }

template <class Predicate>
bool any_task(const Trace& trace, Predicate&& predicate) {
  return std::ranges::any_of(trace.tasks, [&](const auto& one) { return std::ranges::any_of(one.second, predicate); });
}

/// Times of one kind.
struct Sum {
  uint64_t count = 0;
  double total = 0, squares = 0, least = std::numeric_limits<double>::infinity(), most = 0;
  void add(double time) {
    ++count;
    total += time, squares += time * time;
    least = std::min(least, time), most = std::max(most, time);
  }
  double mean() const { return total / static_cast<double>(count); }
  double variance() const { return std::max(0.0, squares / static_cast<double>(count) - mean() * mean()); }
};

/// The largest first.
template <class Key>
std::vector<std::pair<Key, Sum>> by_total(const std::map<Key, Sum>& sums) {
  std::vector<std::pair<Key, Sum>> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(rows, std::greater<>(), [](const auto& row) { return row.second.total; });
  return rows;
}

void write_op_summary(const Trace& trace, Sink& out) {
  out << "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task "
         "Duration(us),"
         "Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
         "Output Shapes,Output Data Types,Output Formats,Context ID\n";
  for (const auto& [device, tasks] : trace.tasks) {
    int64_t free_since = 0;  // the end of all that came before
    for (const TaskRecord& task : tasks) {
      if (!is_operator(task)) continue;
      const int64_t wait = free_since == 0 ? 0 : std::max<int64_t>(0, task.start - free_since);
      free_since = std::max(free_since, task.end);
      const auto inputs = parts_of(trace.text(task.inputs)), outputs = parts_of(trace.text(task.outputs));
      out.print("{},4294967295,{},{},{},{},static,{},{},{:.3f},{:.3f},N/A,N/A,NO,{},{},{},{},{},{},N/A\n", device,
                task.number, task.stream, cell(name_of(trace, task)), cell(trace.text(task.type)), unit_name(task),
                microseconds(task.start), us(task.end - task.start), us(wait), cell(inputs[0]), cell(inputs[1]),
                cell(inputs[2]), cell(outputs[0]), cell(outputs[1]), cell(outputs[2]));
    }
  }
}

void write_op_statistic(const Trace& trace, Sink& out) {
  using Key = std::tuple<int, std::string, std::string>;
  std::map<Key, Sum> sums;
  std::map<int, double> totals;
  trace.each_task([&](int device, const TaskRecord& task, uint64_t) {
    if (!computes(task)) return;
    const double time = us(task.end - task.start);
    sums[{device, std::string(trace.text(task.type)), std::string(unit_name(task))}].add(time);
    totals[device] += time;
  });
  out << "Device_id,Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max "
         "Time(us),Ratio(%)\n";
  for (const auto& [key, sum] : by_total(sums)) {
    const auto& [device, type, unit] = key;
    out.print("{},N/A,{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}\n", device, cell(type), unit, sum.count, sum.total,
              sum.least, sum.mean(), sum.most, totals[device] > 0 ? 100 * sum.total / totals[device] : 0);
  }
}

void write_task_time(const Trace& trace, Sink& out) {
  out << "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n";
  trace.each_task([&](int device, const TaskRecord& task, uint64_t) {
    out.print("{},{},{},{},{},{:.3f},{},{}\n", device, cell(name_of(trace, task)), unit_name(task), task.stream,
              task.number, us(task.end - task.start), microseconds(task.start), microseconds(task.end));
  });
}

void write_api_statistic(const Trace& trace, Sink& out) {
  using Key = std::pair<std::string, std::string>;
  std::map<Key, Sum> sums;
  for (const CallRecord& call : trace.calls)
    sums[{call.level == Level::kRuntime ? "acl" : "node", name_of(trace, call)}].add(us(call.end - call.start));
  out << "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n";
  for (const auto& [key, sum] : by_total(sums))
    out.print("host,{},{},{:.3f},{},{:.3f},{:.3f},{:.3f},{:.3f}\n", key.first, cell(key.second), sum.total, sum.count,
              sum.mean(), sum.least, sum.most, sum.variance());
}

void write_communication_statistic(const Trace& trace, Sink& out) {
  std::map<std::pair<int, std::string>, Sum> sums;
  std::map<int, double> totals;
  trace.each_task([&](int device, const TaskRecord& task, uint64_t) {
    if (!is_collective(task)) return;
    const double time = us(task.end - task.start);
    sums[{device, std::string(trace.text(task.type))}].add(time);
    totals[device] += time;
  });
  out << "Device_id,OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n";
  for (const auto& [key, sum] : by_total(sums))
    out.print("{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}\n", key.first, cell(key.second), sum.count, sum.total,
              sum.least, sum.mean(), sum.most, totals[key.first] > 0 ? 100 * sum.total / totals[key.first] : 0);
}

bool has_operators(const Trace& trace) { return any_task(trace, is_operator); }
bool has_tasks(const Trace& trace) {
  return any_task(trace, [](const TaskRecord&) { return true; });
}
bool has_calls(const Trace& trace) { return !trace.calls.empty(); }

}  // namespace

const Table kTables[5] = {{"op_summary", write_op_summary, has_operators},
                          {"op_statistic", write_op_statistic, has_operators},
                          {"task_time", write_task_time, has_tasks},
                          {"api_statistic", write_api_statistic, has_calls},
                          {"communication_statistic", write_communication_statistic, has_collectives}};

std::array<std::string, 3> parts_of(std::string_view text) {
  std::array<std::string, 3> parts;
  if (text.empty()) return {"N/A", "N/A", "N/A"};
  for (std::string& part : parts) {
    const size_t end = text.find('|');
    part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  parts[0] = '"' + parts[0] + '"';
  return parts;
}

std::string cell(std::string_view text) {
  if (text.find_first_of(",\";\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += c;
    out += c;
  }
  return out + '"';
}

}  // namespace npu::profile
