// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/trace/step.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "device/trace/module.h"

namespace npu::profile {
namespace {

using device::trace::Phase;
using Tasks = std::vector<const TaskRecord*>;

/// Of an optimizer, which changes parameters: the vendor's, TensorFlow's and our names of those operators.
bool changes_parameters(std::string_view type) {
  for (const std::string_view part : {"Apply", "Optimizer", "VariableUpdate"})
    if (type.find(part) != std::string_view::npos) return true;
  return false;
}

/// `tasks` in the order of their starts, at least one.
Step step_of(const Trace& trace, int device, uint64_t number, const Tasks& tasks) {
  Step step{device, number, tasks.front()->start};
  bool updates = false;
  for (const TaskRecord* task : tasks) {
    const std::string_view name = trace.text(task->name);
    if (!trace.forward_point.empty() && name == trace.forward_point) step.forward = task->start;
    if (is_collective(*task)) step.reductions.push_back({task->start, task->end});
    updates = updates || changes_parameters(trace.text(task->type));
    if (!updates && computes(*task)) step.backward = std::max(step.backward, task->end);
    step.end = std::max(step.end, task->end);
  }
  if (!trace.backward_point.empty())
    for (const TaskRecord* task : tasks)
      if (trace.text(task->name) == trace.backward_point) step.backward = task->end;
  step.backward = std::max(step.backward, step.forward);
  return step;
}

/// The tasks of each step, by device and number.
using Grouped = std::map<std::pair<int, uint64_t>, Tasks>;

std::vector<Step> made_of(const Trace& trace, const Grouped& grouped) {
  std::vector<Step> steps;
  for (const auto& [key, tasks] : grouped) steps.push_back(step_of(trace, key.first, key.second, tasks));
  return steps;
}

Grouped by_marks(const Trace& trace) {
  Grouped grouped;
  for (const MarkRecord& mark : trace.marks) {
    const auto tasks = trace.tasks.find(mark.device);
    if (mark.kind != device::trace::Mark::kStep || tasks == trace.tasks.end()) continue;
    for (const TaskRecord& task : tasks->second)
      if (task.start >= mark.start && task.end <= mark.end && (computes(task) || is_collective(task)))
        grouped[{mark.device, mark.number}].push_back(&task);
  }
  return grouped;
}

/// When the host was in steps of the optimizer whose first step is the earliest, in order, and the thread.
struct HostSteps {
  uint32_t thread = 0;
  int64_t begin = 0;  ///< the first module, or the first step
  Intervals steps;
};

HostSteps host_steps(const Trace& trace) {
  const auto is_step = [](const MarkRecord& mark) { return mark.number == static_cast<uint64_t>(Phase::kStep); };
  const auto first = std::ranges::find_if(trace.modules, is_step);
  HostSteps found;
  if (first == trace.modules.end()) return found;
  found.thread = first->thread;
  found.begin = std::ranges::find_if(trace.modules, [](const MarkRecord& mark) { return mark.text != 0; })->start;
  bool inside = false;
  for (const MarkRecord& mark : trace.modules) {
    if (mark.thread != found.thread) continue;
    const bool begins = is_step(mark) && mark.text == first->text;
    if (inside && !begins) found.steps.back().end = mark.start;
    if (begins && !inside) found.steps.push_back({mark.start, mark.start});
    inside = begins;
  }
  if (inside) found.steps.pop_back();  // the records end in it
  return found;
}

/// What was asked for from the end of one step of the optimizer to that of the next.
std::vector<Step> by_optimizer(const Trace& trace) {
  const HostSteps host = host_steps(trace);
  std::vector<Step> found;
  for (const auto& [device, all] : trace.tasks) {
    std::map<size_t, Tasks> grouped;
    for (const TaskRecord& task : all) {
      const auto step = std::ranges::lower_bound(host.steps, task.launched, {}, &Interval::end);
      if (task.launched < host.begin || step == host.steps.end() || !(computes(task) || is_collective(task))) continue;
      grouped[static_cast<size_t>(step - host.steps.begin())].push_back(&task);
    }
    for (const auto& [at, tasks] : grouped) {
      Step& step = found.emplace_back(step_of(trace, device, at + 1, tasks));
      if (!trace.backward_point.empty()) continue;
      step.backward = step.forward;
      for (const TaskRecord* task : tasks)
        if (computes(*task) && task->launched < host.steps[at].start)
          step.backward = std::max(step.backward, task->end);
    }
  }
  return found;
}

/// The graph of each device that takes most of the time; 0 where nothing is a graph's.
std::map<int, uint32_t> main_graphs(const Trace& trace) {
  std::map<std::pair<int, uint32_t>, int64_t> times;
  for (const auto& [device, tasks] : trace.tasks)
    for (const TaskRecord& task : tasks)
      if (task.graph != 0 && !is_collective(task)) times[{device, task.graph}] += task.end - task.start;
  std::map<int, uint32_t> found;
  std::map<int, int64_t> most;
  for (const auto& [key, time] : times)
    if (time > most[key.first]) most[key.first] = time, found[key.first] = key.second;
  return found;
}

int64_t end_of(const Tasks& tasks) {
  return (*std::ranges::max_element(tasks, {}, [](const TaskRecord* task) { return task->end; }))->end;
}

/// Records of collectives name their communicator, not the graph: each belongs to the run during which it begins.
/// O(tasks log runs); the runs of one graph on a device do not overlap.
void add_collectives(const std::vector<TaskRecord>& all, std::map<uint64_t, Tasks>& runs) {
  std::map<int64_t, std::pair<int64_t, Tasks*>> by_start;
  for (auto& [number, tasks] : runs) by_start[tasks.front()->start] = {end_of(tasks), &tasks};
  for (const TaskRecord& task : all) {
    const auto after = by_start.upper_bound(task.start);
    if (!is_collective(task) || after == by_start.begin()) continue;
    if (const auto& [end, tasks] = std::prev(after)->second; task.start <= end) tasks->push_back(&task);
  }
  for (auto& [number, tasks] : runs)
    std::ranges::stable_sort(tasks, {}, [](const TaskRecord* one) { return one->start; });
}

Grouped by_graphs(const Trace& trace) {
  Grouped grouped;
  for (const auto& [device, graph] : main_graphs(trace)) {
    const std::vector<TaskRecord>& all = trace.tasks.at(device);
    std::map<uint64_t, Tasks> runs;
    for (const TaskRecord& task : all)
      if (task.graph == graph && !is_collective(task)) runs[uint64_t{task.step} + 1].push_back(&task);
    add_collectives(all, runs);
    for (auto& [number, tasks] : runs) grouped[{device, number}] = std::move(tasks);
  }
  return grouped;
}

}  // namespace

std::vector<Step> steps_of(const Trace& trace) {
  std::vector<Step> steps = made_of(trace, by_marks(trace));
  if (steps.empty()) steps = by_optimizer(trace);
  return steps.empty() ? made_of(trace, by_graphs(trace)) : steps;
}

}  // namespace npu::profile
