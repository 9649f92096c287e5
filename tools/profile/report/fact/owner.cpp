// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/owner.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace npu::profile {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

constexpr const char* kOutside = "(outside of modules)";
/// What TensorFlow calls those that it makes to compute a gradient.
constexpr std::array<std::string_view, 2> kGradients = {"gradient_tape", "gradients"};

bool is_of_gradient(std::string_view name) {
  return std::ranges::any_of(kGradients, [&](std::string_view mark) {
    const size_t at = name.find(mark);
    return at != std::string_view::npos && name.substr(at + mark.size()).starts_with('/') &&
           (at == 0 || name[at - 1] == '/');
  });
}

/// The words of a node's name without that of the operator.
std::vector<std::string> scope_of(std::string_view name) {
  std::vector<std::string> words = split(name, '/');
  std::erase_if(words, [](const std::string& word) {
    return word == "StatefulPartitionedCall" || std::ranges::count(kGradients, word) != 0;
  });
  if (!words.empty()) words.pop_back();
  return words;
}

Owner of_mark(const MarkRecord& mark) {
  if (mark.text == 0) return {Owner::Kind::kOutside, static_cast<Phase>(mark.number), 0};
  return {Owner::Kind::kModule, static_cast<Phase>(mark.number), mark.text};
}

bool is_node(const TaskRecord& task) { return task.graph != 0 && !is_collective(task); }

}  // namespace

std::vector<std::string> Owners::words_of(const Owner& owner) const {
  switch (owner.kind) {
    case Owner::Kind::kModule: {
      const std::string_view path = trace_->text(owner.text);
      return owner.phase == Phase::kStep ? std::vector<std::string>{std::string(path)} : split(path, '.');
    }
    case Owner::Kind::kNode: {
      std::vector<std::string> words = words_of_node(trace_->text(owner.text));
      return words.empty() ? std::vector<std::string>{kOutside} : words;
    }
    case Owner::Kind::kCollective: return {"(collectives)"};
    case Owner::Kind::kOutside: return {kOutside};
    case Owner::Kind::kUnknown: break;
  }
  return {"(not known)"};
}

/// A gradient's name goes on with that of the operator whose gradient it is, or of a part of it:
/// "gradient_tape/model/dense/MatMul/MatMul_1" is of model/dense.
std::vector<std::string> Owners::words_of_node(std::string_view name) const {
  std::vector<std::string> words = scope_of(name);
  if (is_of_gradient(name))
    while (!words.empty() && !scopes_.contains(words)) words.pop_back();
  return words;
}

std::string Owners::path_of(const Owner& owner) const {
  return fmt::format("{}", fmt::join(words_of(owner), separator_of(owner)));
}

Owners::Owners(const Trace& trace) : trace_(&trace) {
  for (const MarkRecord& mark : trace.modules) threads_[mark.thread].push_back(&mark);
  std::set<uint32_t> names;
  for (const auto& [device, tasks] : trace.tasks)
    for (const TaskRecord& task : tasks)
      if (is_node(task)) names.insert(task.name);
  for (const uint32_t name : names)
    if (!is_of_gradient(trace.text(name)))
      for (std::vector<std::string> words = scope_of(trace.text(name)); !words.empty(); words.pop_back())
        scopes_.insert(words);
}

Owner Owners::of(uint32_t thread, int64_t time) const {
  const auto marks = threads_.find(thread);
  if (marks == threads_.end()) return {threads_.empty() ? Owner::Kind::kOutside : Owner::Kind::kUnknown};
  const auto next = std::ranges::upper_bound(marks->second, time, {}, &MarkRecord::start);
  if (next == marks->second.begin()) return {Owner::Kind::kOutside, Phase::kForward, 0};
  return of_mark(**std::prev(next));
}

Owner Owners::of(const TaskRecord& task) const {
  if (is_collective(task)) return {Owner::Kind::kCollective, Phase::kForward, 0};
  if (!is_node(task)) return of(task.launcher, task.launched);
  const bool is_gradient = is_of_gradient(trace_->text(task.name));
  return {Owner::Kind::kNode, is_gradient ? Phase::kGradient : Phase::kForward, task.name};
}

}  // namespace npu::profile
