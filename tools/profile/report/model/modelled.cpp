// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/model/modelled.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "tools/profile/trace/step.h"

namespace npu::profile {
namespace {

bool is_modelled(const TaskRecord& task) { return task.unit != device::trace::Unit::kNone; }

/// How many ranks of each communicator have been seen.
using Ranks = std::map<std::string_view, double>;

Ranks ranks_of(std::span<const Facts> all) {
  std::map<std::string_view, std::set<const Facts*>> seen;
  for (const Facts& facts : all)
    for (const TaskRecord& task : facts.tasks)
      if (is_collective(task)) seen[facts.trace->text(task.graph)].insert(&facts);
  Ranks ranks;
  for (const auto& [group, some] : seen)
    if (some.size() > 1) ranks[group] = static_cast<double>(some.size());
  return ranks;
}

/// What is alike is estimated once: a run repeats few operators many times.
struct Estimated {
  Work work;
  std::vector<Estimate> of_chips;
};

class Estimates {
 public:
  Estimates(const Facts& facts, const std::vector<Chip>& chips, const Ranks& ranks)
      : trace_(*facts.trace), chips_(chips), ranks_(ranks) {}

  const Estimated& of(const TaskRecord& task) {
    const uint32_t group = is_collective(task) ? task.graph : 0;
    const auto [place, is_new] = known_.try_emplace({task.type, task.inputs, task.outputs, group, task.bytes});
    if (is_new) make(task, place->second);
    return place->second;
  }

 private:
  void make(const TaskRecord& task, Estimated& made) const {
    const auto ranks = ranks_.find(is_collective(task) ? trace_.text(task.graph) : std::string_view());
    made.work = work_of(trace_, task, ranks == ranks_.end() ? 0 : ranks->second);
    for (const Chip& chip : chips_) made.of_chips.push_back(estimate(chip, made.work));
  }

  const Trace& trace_;
  const std::vector<Chip>& chips_;
  const Ranks& ranks_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint64_t>, Estimated> known_;
};

void add(Cell& cell, const Estimate& one) {
  if (!one.missing.empty()) {
    ++cell.left;
    return;
  }
  cell.time += one.time();
  cell.by_bound.at(static_cast<size_t>(one.bound())) += one.time();
}

void add(Line& line, const TaskRecord& task, const Estimated& one) {
  ++line.count;
  line.measured += task.end - task.start;
  line.cube += one.work.cube, line.vector += one.work.vector, line.bytes += one.work.bytes;
  line.cells.resize(one.of_chips.size());
  for (size_t i = 0; i < one.of_chips.size(); ++i) add(line.cells[i], one.of_chips[i]);
}

std::vector<Line> ordered(std::map<std::string, Line> lines) {
  std::vector<Line> all;
  for (auto& [name, line] : lines) {
    line.name = name;
    all.push_back(std::move(line));
  }
  std::ranges::stable_sort(all, std::greater<>(), &Line::measured);
  return all;
}

void add_steps(const Facts& facts, Estimates& estimates, Modelled& found) {
  for (const Step& step : steps_of(*facts.trace)) {
    if (step.device != facts.device) continue;
    ++found.step_count;
    for (const TaskRecord& task : facts.tasks)
      if (is_modelled(task) && task.start >= step.forward && task.end <= step.end)
        add(found.steps, task, estimates.of(task));
  }
}

void add_tasks(const Facts& facts, Estimates& estimates, Modelled& found) {
  std::map<std::string, Line> types, streams;
  for (const TaskRecord& task : facts.tasks) {
    if (!is_modelled(task)) continue;
    const Estimated& one = estimates.of(task);
    const std::string type(facts.trace->text(task.type));
    add(types[type], task, one);
    add(streams[task.stream == 0 ? "graphs" : fmt::format("stream {}", task.stream)], task, one);
    add(found.total, task, one);
    if (!one.work.told) ++found.untold[type];
    for (size_t i = 0; i < one.of_chips.size(); ++i)
      if (!one.of_chips[i].missing.empty())
        ++found.left[fmt::format("{}: {}", found.chips[i].name(), one.of_chips[i].missing)];
  }
  found.types = ordered(std::move(types)), found.streams = ordered(std::move(streams));
}

void choose(const Trace& trace, const std::vector<std::string>& names, Modelled& found) {
  const std::vector<std::string> asked = names.empty() ? std::vector{trace.soc} : names;
  for (const std::string& name : asked) {
    const Chip chip(name);
    const std::vector<std::string> missing = chip.missing();
    if (missing.empty())
      found.chips.push_back(chip);
    else if (name.empty())
      found.refused.emplace_back("no model: the records do not say of which SoC they are; --soc names one");
    else if (chip.figures().empty())
      found.refused.push_back(fmt::format("{}: no model: no public number of it is in the table, which has {}", name,
                                          fmt::join(chip_names(), ", ")));
    else
      found.refused.push_back(
          fmt::format("{}: no model: no public number was found for {}", chip.name(), fmt::join(missing, ", ")));
  }
}

}  // namespace

Bound Cell::bound() const { return static_cast<Bound>(std::ranges::max_element(by_bound) - by_bound.begin()); }

std::vector<Modelled> modelled(std::span<const Facts> all, const std::vector<std::string>& names) {
  const Ranks ranks = ranks_of(all);
  std::vector<Modelled> models;
  for (const Facts& facts : all) {
    Modelled& found = models.emplace_back();
    found.facts = &facts;
    choose(*facts.trace, names, found);
    // Of collectives what they give is recorded in any case.
    found.has_shapes = std::ranges::any_of(facts.tasks, [](const TaskRecord& t) { return t.outputs != 0; });
    if (!found.has_shapes || found.chips.empty()) continue;
    Estimates estimates(facts, found.chips, ranks);
    add_tasks(facts, estimates, found);
    add_steps(facts, estimates, found);
  }
  return models;
}

}  // namespace npu::profile
