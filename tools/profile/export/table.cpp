// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "tools/profile/export/cell.h"
#include "tools/profile/export/communication.h"
#include "tools/profile/export/event.h"
#include "tools/profile/export/statistic.h"

namespace npu::profile {
namespace {

using device::trace::Level;
using device::trace::Unit;

template <class Nanoseconds>
double us(Nanoseconds time) {
  return static_cast<double>(time) / 1000;
}

bool is_operator(const TaskRecord& task) { return task.unit != Unit::kNone; }

template <class Predicate>
bool any_task(const Trace& trace, Predicate&& predicate) {
  return std::ranges::any_of(trace.tasks, [&](const auto& one) { return std::ranges::any_of(one.second, predicate); });
}

/// Cells of texts, by their numbers.
class Cells {
 public:
  explicit Cells(const Trace& trace) : trace_(trace), texts_(trace.texts.size() + 1), shapes_(trace.texts.size() + 1) {}

  std::string_view text(uint32_t number) {
    return known(texts_, number, [](std::string_view text) { return cell(text); });
  }
  /// Three of them: shapes, types, formats.
  std::string_view shapes(uint32_t number) {
    return known(shapes_, number, [](std::string_view text) {
      const auto parts = parts_of(text);
      return fmt::format("{},{},{}", cell(parts[0]), cell(parts[1]), cell(parts[2]));
    });
  }
  std::string_view name(const TaskRecord& task) {
    return is_collective(task) ? std::string_view(collective_ = cell(name_of(trace_, task))) : text(task.name);
  }

 private:
  template <class Make>
  std::string_view known(std::vector<std::string>& cells, uint32_t number, Make&& make) {
    std::string& place = cells[number < cells.size() ? number : 0];
    if (place.empty()) place = make(trace_.text(number));
    return place;
  }

  const Trace& trace_;
  std::vector<std::string> texts_, shapes_;
  std::string collective_;
};

/// The largest first.
template <class Key>
std::vector<std::pair<Key, Sum>> by_total(const std::map<Key, Sum>& sums) {
  std::vector<std::pair<Key, Sum>> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(rows, std::greater<>(), [](const auto& row) { return row.second.total; });
  return rows;
}

/// Total, least, mean and most, and what share of `all` the total is.
std::string times_of(const Sum& sum, int64_t all) {
  return fmt::format("{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}", us(sum.total), us(sum.least), us(sum.mean()), us(sum.most),
                     all > 0 ? 100 * static_cast<double>(sum.total) / static_cast<double>(all) : 0);
}

void write_op_summary(const Trace& trace, Sink& out) {
  out << "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task "
         "Duration(us),"
         "Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
         "Output Shapes,Output Data Types,Output Formats,Context ID\n";
  Cells cells(trace);
  for (const auto& [device, tasks] : trace.tasks) {
    const std::string of_device = fmt::format("{},4294967295,", device);
    int64_t free_since = 0;  // the end of all that came before
    for (const TaskRecord& task : tasks) {
      if (!is_operator(task)) continue;
      const int64_t wait = free_since == 0 ? 0 : std::max<int64_t>(0, task.start - free_since);
      free_since = std::max(free_since, task.end);
      (out << of_device).number(task.number) << ",";
      out.number(static_cast<uint32_t>(task.stream))
          << "," << cells.name(task) << "," << cells.text(task.type) << ",static," << unit_name(task) << ",";
      out.microseconds(task.start) << ",";
      out.microseconds(task.end - task.start) << ",";
      out.microseconds(wait) << ",N/A,N/A,NO," << cells.shapes(task.inputs) << "," << cells.shapes(task.outputs)
                             << ",N/A\n";
    }
  }
}

void write_op_statistic(const Trace& trace, Sink& out) {
  const OperatorSums sums = operator_sums(trace);
  std::map<int, int64_t> totals;
  for (const auto& [key, sum] : sums) totals[std::get<0>(key)] += sum.total;
  out << "Device_id,Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max "
         "Time(us),Ratio(%)\n";
  for (const auto& [key, sum] : by_total(sums)) {
    const auto& [device, type, unit] = key;
    out.print("{},N/A,{},{},{},{}\n", device, cell(type), unit, sum.count, times_of(sum, totals[device]));
  }
}

void write_task_time(const Trace& trace, Sink& out) {
  out << "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n";
  Cells cells(trace);
  for (const auto& [device, tasks] : trace.tasks) {
    const std::string of_device = fmt::format("{},", device);
    for (const TaskRecord& task : tasks) {
      out << of_device << cells.name(task) << "," << unit_name(task) << ",";
      out.number(static_cast<uint32_t>(task.stream)) << ",";
      out.number(task.number) << ",";
      out.microseconds(task.end - task.start) << ",";
      out.microseconds(task.start) << ",";
      out.microseconds(task.end) << "\n";
    }
  }
}

void write_api_statistic(const Trace& trace, Sink& out) {
  using Key = std::pair<std::string, std::string>;
  std::map<Key, Sum> sums;
  Sums found;
  for (const CallRecord& call : trace.calls)
    found.add(call.name, static_cast<uint32_t>(call.level), call.end - call.start);
  found.each([&](uint32_t name, uint32_t level, const Sum& sum) {
    CallRecord call;
    call.name = name, call.level = Level{level};
    sums[{call.level == Level::kRuntime ? "acl" : "node", name_of(trace, call)}].add(sum);
  });
  for (const GraphRecord& work : trace.graphs) sums[{"model", name_of(trace, work)}].add(work.end - work.start);
  out << "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n";
  for (const auto& [key, sum] : by_total(sums))
    out.print("host,{},{},{:.3f},{},{:.3f},{:.3f},{:.3f},{:.3f}\n", key.first, cell(key.second), us(sum.total),
              sum.count, us(sum.mean()), us(sum.least), us(sum.most), sum.variance() / 1e6);
}

void write_communication_statistic(const Trace& trace, Sink& out) {
  std::map<std::pair<int, std::string>, Sum> sums;
  std::map<int, int64_t> totals;
  trace.each_task([&](int device, const TaskRecord& task, uint64_t) {
    if (!is_collective(task)) return;
    sums[{device, std::string(trace.text(task.type))}].add(task.end - task.start);
    totals[device] += task.end - task.start;
  });
  out << "Device_id,OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n";
  for (const auto& [key, sum] : by_total(sums))
    out.print("{},{},{},{}\n", key.first, cell(key.second), sum.count, times_of(sum, totals[key.first]));
}

bool has_operators(const Trace& trace) { return any_task(trace, is_operator); }
bool has_tasks(const Trace& trace) {
  return any_task(trace, [](const TaskRecord&) { return true; });
}
bool has_calls(const Trace& trace) { return !trace.calls.empty() || !trace.graphs.empty(); }

}  // namespace

const Table kTables[8] = {{"op_summary", write_op_summary, has_operators},
                          {"op_statistic", write_op_statistic, has_operators},
                          {"task_time", write_task_time, has_tasks},
                          {"api_statistic", write_api_statistic, has_calls},
                          {"communication_statistic", write_communication_statistic, has_collectives},
                          {"msprof_tx", write_marks, has_marks},
                          {"npu_mem", write_memory, has_memory},
                          {"step_trace", write_steps, has_steps}};

}  // namespace npu::profile
