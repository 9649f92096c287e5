// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/frame.h"

#include <fmt/ranges.h>

#include <map>
#include <tuple>
#include <utility>

namespace npu::profile {
namespace {

/// What is the same of many tasks, before any text is looked at.
using Key = std::tuple<Owner::Kind, Phase, uint32_t, uint32_t>;  // owner, type

std::map<Key, Total> sums_of(const Owners& owners, const std::vector<TaskRecord>& tasks) {
  std::map<Key, Total> sums;
  for (const TaskRecord& task : tasks) {
    const Owner owner = owners.of(task);
    sums[{owner.kind, owner.phase, owner.text, task.type}].add(task.end - task.start);
  }
  return sums;
}

bool is_module(const Owner& owner, const std::vector<std::string>& words) {
  return owner.kind <= Owner::Kind::kNode && !words.front().starts_with('(');
}

Frame& child(Frame& frame, std::string_view name) {
  const auto known = std::ranges::find(frame.inside, name, &Frame::name);
  return known != frame.inside.end() ? *known : frame.inside.emplace_back(Frame{std::string(name), {}, {}});
}

void add(Frame& root, const std::vector<std::string>& words, const Total& total) {
  Frame* at = &root;
  at->total.add(total);
  for (const std::string& word : words) {
    at = &child(*at, word);
    at->total.add(total);
  }
}

/// Layers are called by their numbers, and are looked for in that order.
bool are_numbers(const std::vector<Frame>& frames) {
  return std::ranges::all_of(frames, [](const Frame& one) {
    return std::ranges::all_of(one.name, [](char c) { return c >= '0' && c <= '9'; }) && one.name.size() < 9;
  });
}

void order(Frame& frame) {
  if (are_numbers(frame.inside))
    std::ranges::sort(frame.inside, {}, [](const Frame& one) { return std::pair(one.name.size(), one.name); });
  else
    std::ranges::stable_sort(frame.inside, std::greater<>(), [](const Frame& one) { return one.total.time; });
  for (Frame& one : frame.inside) order(one);
}

void count(Modules& modules, const Owner& owner, const std::vector<std::string>& words, const Total& total) {
  if (is_module(owner, words))
    modules.known = true;
  else if (owner.kind == Owner::Kind::kUnknown)
    modules.unknown += total.time;
  else if (owner.kind != Owner::Kind::kCollective)
    modules.outside += total.time;
}

std::vector<ModuleTime> rows_of(std::map<std::string, ModuleTime> by_name) {
  std::vector<ModuleTime> rows;
  for (auto& [name, row] : by_name) {
    row.name = name;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater<>(), &ModuleTime::time);
  return rows;
}

/// By what begins a path: how much is inside of it.
std::map<std::vector<std::string>, int64_t> weights_inside(const Owners& owners, const std::vector<Weighted>& weights) {
  std::map<std::vector<std::string>, int64_t> found;
  for (const Weighted& one : weights) {
    std::vector<std::string> words = owners.words_of(one.owner);
    if (!is_module(one.owner, words)) continue;
    for (; !words.empty(); words.pop_back()) found[words] += one.weight;
  }
  return found;
}

}  // namespace

Modules modules_of(const Trace& trace, const Owners& owners, const std::vector<TaskRecord>& tasks) {
  Modules modules;
  std::map<std::string, ModuleTime> by_name;
  for (const auto& [key, total] : sums_of(owners, tasks)) {
    const auto& [kind, phase, text, type] = key;
    const Owner owner{kind, phase, text};
    std::vector<std::string> words = owners.words_of(owner);
    count(modules, owner, words, total);
    ModuleTime& row = by_name[owners.path_of(owner)];
    (phase == Phase::kGradient ? row.gradient : row.forward).add(total);
    if (is_module(owner, words) && phase != Phase::kStep)
      words.push_back(phase == Phase::kGradient ? "gradient of " + words.back() : "forward");
    words.emplace_back(trace.text(type));
    add(modules.all, words, total);
  }
  order(modules.all);
  modules.rows = rows_of(std::move(by_name));
  return modules;
}

std::string mostly_in(const Owners& owners, const std::vector<Weighted>& weights) {
  int64_t all = 0;
  for (const Weighted& one : weights) all += one.weight;
  const std::pair<const std::vector<std::string>, int64_t>* best = nullptr;
  const auto inside = weights_inside(owners, weights);
  for (const auto& one : inside)
    if (one.second * 2 >= all && all > 0 && (best == nullptr || best->first.size() < one.first.size())) best = &one;
  if (best == nullptr) return "";
  return fmt::format("mostly in {} ({:.0f} %)", fmt::join(best->first, separator_of(weights.front().owner)),
                     100 * static_cast<double>(best->second) / static_cast<double>(all));
}

}  // namespace npu::profile
