// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace npu::profile {
namespace {

using Sums = std::map<std::pair<std::string, std::string>, Total>;

Rows rows_of(const Sums& sums) {
  Rows rows;
  for (const auto& [key, total] : sums) rows.push_back({key.first, key.second, total});
  std::ranges::stable_sort(rows, std::greater<>(), [](const Row& row) { return row.total.time; });
  return rows;
}

template <class Key>
Rows rows_of(const std::vector<TaskRecord>& tasks, Key&& key) {
  Sums sums;
  for (const TaskRecord& task : tasks) sums[key(task)].add(task.end - task.start);
  return rows_of(sums);
}

std::pair<std::string, std::string> family_of(const TaskRecord& task) {
  if (task.unit == device::trace::Unit::kNone) return {"copies", ""};
  return {std::string(unit_name(task)), ""};
}

std::pair<std::string, std::string> stream_of(const TaskRecord& task) {
  return {task.stream == 0 ? "default stream" : fmt::format("stream {}", task.stream), ""};
}

/// From the first operator to the last: copies before and after belong to the start of a program and to its end.
std::vector<TaskRecord> busy_tasks(const Trace& trace, const std::vector<TaskRecord>& tasks) {
  const auto is_operator = [](const TaskRecord& task) { return task.unit != device::trace::Unit::kNone; };
  const auto first = std::ranges::find_if(tasks, is_operator);
  const auto last = std::find_if(tasks.rbegin(), std::make_reverse_iterator(first), is_operator).base();
  std::vector<TaskRecord> found;
  std::copy_if(first, last, std::back_inserter(found), [&](const TaskRecord& task) { return keeps_busy(trace, task); });
  return found;
}

Interval span_of(const std::vector<TaskRecord>& tasks) {
  Interval span{tasks.front().start, tasks.front().end};
  for (const TaskRecord& task : tasks) span.end = std::max(span.end, task.end);
  return span;
}

Facts facts_of(const Trace& trace, int device, std::vector<TaskRecord> tasks) {
  Facts facts;
  facts.trace = &trace, facts.device = device, facts.tasks = std::move(tasks), facts.host = Host(trace);
  facts.name = fmt::format("NPU {}, process {}", device, trace.process);
  facts.span = span_of(facts.tasks);
  facts.overlap = overlap_of(facts.tasks);
  facts.idle = idle_of(trace, facts.host, facts.tasks);
  facts.busy = facts.length();
  for (const int64_t idle : facts.idle.parts) facts.busy -= idle;
  for (const TaskRecord& task : facts.tasks) facts.waited += std::min(task.waited, task.end - task.start);
  for (Step& step : steps_of(trace))
    if (step.device == device) facts.steps.push_back(std::move(step));
  facts.step_parts = step_parts_of(facts.steps, facts.overlap, facts.idle);
  facts.types = types_of(trace, facts.tasks);
  facts.units = rows_of(facts.tasks, family_of);
  facts.streams = rows_of(facts.tasks, stream_of);
  facts.calls = calls_of(trace);
  facts.compiled = compiled_of(trace, device), facts.host_nodes = host_nodes_of(trace, device);
  facts.memory = memory_of(trace, facts.device);
  facts.owners = Owners(trace);
  facts.modules = modules_of(trace, facts.owners, facts.tasks);
  return facts;
}

}  // namespace

Rows calls_of(const Trace& trace) {
  Sums sums;
  for (const CallRecord& call : trace.calls) sums[{name_of(trace, call), ""}].add(call.end - call.start);
  return rows_of(sums);
}

Rows compiled_of(const Trace& trace, int device) {
  Sums sums;
  for (const GraphRecord& work : trace.graphs)
    if (compiles(work) && work.device == device)
      sums[{function_of(trace.text(work.graph)), std::string(words_of(work.need))}].add(work.end - work.start);
  return rows_of(sums);
}

Rows host_nodes_of(const Trace& trace, int device) {
  Sums sums;
  for (const GraphRecord& work : trace.graphs)
    if (!compiles(work) && work.device == device)
      sums[{std::string(trace.text(work.type)), ""}].add(work.end - work.start);
  return rows_of(sums);
}

Rows types_of(const Trace& trace, const std::vector<TaskRecord>& tasks) {
  return rows_of(tasks, [&](const TaskRecord& task) {
    const std::string_view unit = task.unit == device::trace::Unit::kNone ? "copy" : unit_name(task);
    return std::pair(std::string(trace.text(task.type)), std::string(unit));
  });
}

std::vector<Facts> facts_of(const std::vector<Trace>& traces) {
  std::vector<Facts> all;
  for (const Trace& trace : traces)
    for (const auto& [device, tasks] : trace.tasks)
      if (std::vector<TaskRecord> busy = busy_tasks(trace, tasks); !busy.empty())
        all.push_back(facts_of(trace, device, std::move(busy)));
  std::ranges::stable_sort(all, {}, &Facts::device);
  return all;
}

}  // namespace npu::profile
