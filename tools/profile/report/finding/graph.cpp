// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/profile/report/finding/finding.h"

namespace npu::profile {
namespace {

using device::trace::Need;

bool is_again(const GraphRecord& work) { return compiles(work) && work.need > Need::kFirst; }

/// When functions were compiled again, by why; the costlier reason first: a function that is traced anew has shapes and
/// values of its own, too.
using ByNeed = std::map<Need, Intervals>;

/// Idle time by the first reason in its gap.
std::map<Need, int64_t> costs_of(const Facts& facts, const ByNeed& when) {
  std::map<Need, int64_t> costs;
  for (const Gap& gap : facts.idle.gaps) {
    const auto why = std::ranges::find_if(when, [&](const auto& one) { return !inside(one.second, gap.when).empty(); });
    if (gap.parts[Cause::kCompile] > 0 && why != when.end()) costs[why->first] += gap.parts[Cause::kCompile];
  }
  return costs;
}

const char* title_of(Need need) {
  switch (need) {
    case Need::kShapes: return "a function is compiled anew again and again, for other shapes";
    case Need::kValues: return "a function is compiled anew again and again, for other values";
    default: return "a function is traced and compiled anew again and again";
  }
}

const char* cure_of(Need need) {
  switch (need) {
    case Need::kShapes:
      return "keep the shapes of its arguments the same: drop_remainder=True, or pad to a few sizes; a plan is kept "
             "for "
             "each of the last 32";
    case Need::kValues:
      return "an argument whose elements decide about shapes (a size, an axis) changes each time: keep it the same, or "
             "make it a constant of the function";
    default:
      return "keep shapes and types the same (drop_remainder, padding), give it an input_signature, pass tensors in "
             "place of Python numbers, and make the tf.function once, outside of the loop";
  }
}

/// What was told of the last of them that has words.
std::string_view last_reason(const Trace& trace, const std::vector<const GraphRecord*>& works) {
  for (auto work = works.rbegin(); work != works.rend(); ++work)
    if ((*work)->reason != 0) return trace.text((*work)->reason);
  return "";
}

/// Nodes that the client computed for this device: those that wait for data, or the others.
std::vector<const GraphRecord*> nodes_of(const Facts& facts, bool for_data) {
  std::vector<const GraphRecord*> nodes;
  for (const GraphRecord& work : facts.trace->graphs)
    if (!compiles(work) && work.device == facts.device && brings_data(*facts.trace, work) == for_data)
      nodes.push_back(&work);
  return nodes;
}

/// "200 × AsString 81.250 ms, 200 × StringToNumber 40.100 ms", the longest first, at most three.
std::string by_type(const Trace& trace, const std::vector<const GraphRecord*>& nodes) {
  std::map<std::string_view, Total> totals;
  for (const GraphRecord* node : nodes) totals[trace.text(node->type)].add(node->end - node->start);
  std::vector<std::pair<std::string_view, Total>> rows(totals.begin(), totals.end());
  std::ranges::stable_sort(rows, std::greater<>(), [](const auto& row) { return row.second.time; });
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(rows.size(), 3); ++i)
    text += fmt::format("{}{} × {} {} ms", i == 0 ? "" : ", ", rows[i].second.count, rows[i].first,
                        milliseconds(rows[i].second.time));
  return rows.size() > 3 ? fmt::format("{} and {} more types", text, rows.size() - 3) : text;
}

std::string functions_of(const Trace& trace, const std::vector<const GraphRecord*>& works) {
  std::vector<std::string> names;
  for (const GraphRecord* work : works) names.push_back(function_of(trace.text(work->graph)));
  return commonest(names, 3);
}

}  // namespace

std::optional<Finding> compilation_of(const Facts& facts) {
  ByNeed when;
  for (const GraphRecord& work : facts.trace->graphs)
    if (is_again(work) && work.device == facts.device) when[work.need].push_back({work.start, work.end});
  for (auto& [need, intervals] : when) intervals = merged(std::move(intervals));
  const std::map<Need, int64_t> costs = costs_of(facts, when);
  if (costs.empty()) return {};
  const Need need = std::ranges::max_element(costs, {}, [](const auto& one) { return one.second; })->first;
  std::vector<const GraphRecord*> plans;
  for (const GraphRecord& work : facts.trace->graphs)
    if (work.need == need && work.work == device::trace::HostWork::kPlan && work.device == facts.device)
      plans.push_back(&work);
  int64_t cost = 0;
  for (const auto& [why, one] : costs) cost += one;
  const std::string_view reason = last_reason(*facts.trace, plans);
  return Finding{
      .title = title_of(need),
      .cost = cost,
      .where = fmt::format("{}; compiling took {} ms of the host{}{}", functions_of(*facts.trace, plans),
                           milliseconds(length(when[need])), reason.empty() ? "" : "; the last time ", reason),
      .cure = cure_of(need)};
}

std::optional<Finding> host_node_of(const Facts& facts) {
  const std::vector<const GraphRecord*> nodes = nodes_of(facts, false);
  if (nodes.empty()) return {};
  std::vector<std::string> reasons;
  for (const GraphRecord* node : nodes) reasons.emplace_back(facts.trace->text(node->reason));
  return Finding{.title = "a graph computes operators on the host while the device waits",
                 .cost = facts.idle.parts[Cause::kHostNode],
                 .where = fmt::format("{}; in {}; why: {}", by_type(*facts.trace, nodes),
                                      functions_of(*facts.trace, nodes), commonest(reasons, 1)),
                 .cure =
                     "call operators that the NPU has (anynpu ops lists them) in place of these; take strings, "
                     "py_function and the like out of the function, into the input pipeline"};
}

std::optional<Finding> input_of(const Facts& facts) {
  const std::vector<const GraphRecord*> nodes = nodes_of(facts, true);
  if (nodes.empty()) return {};
  return Finding{.title = "the device waits for data: a graph asks its data set for the next element",
                 .cost = facts.idle.parts[Cause::kInput],
                 .where = fmt::format("{}; in {}", by_type(*facts.trace, nodes), functions_of(*facts.trace, nodes)),
                 .cure =
                     "make the input pipeline faster: map with num_parallel_calls=tf.data.AUTOTUNE, cache, prefetch; "
                     "what has effects (py_function, generators) is not read ahead by itself"};
}

}  // namespace npu::profile
