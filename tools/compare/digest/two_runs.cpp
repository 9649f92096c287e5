// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/digest/two_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace npu::compare {
namespace {

using graph::record::DigestedTask;
using graph::record::DigestFile;
using graph::record::Lane;
using graph::record::Place;

/// Types whose results are drawn.
bool draws(std::string_view type) {
  constexpr std::array<std::string_view, 7> kWords = {"Random",      "Dropout", "Normal_",      "Bernoulli",
                                                      "Multinomial", "Uniform", "InplaceNormal"};
  return std::ranges::any_of(kWords, [&](auto word) { return type.find(word) != std::string_view::npos; });
}

bool is_collective(const DigestedTask& task) { return task.type.starts_with("Hcom"); }

std::string name_of(const DigestedTask& task) {
  std::string name(task.type);
  if (task.node != task.type) name += fmt::format(" node '{}'", task.node);
  if (!task.lane.graph.empty()) name += fmt::format(" of {} in step {}", task.lane.graph, task.step);
  return name;
}

/// The first of them that differ, or how many there are.
std::string first_unequal(const std::vector<uint64_t>& one, const std::vector<uint64_t>& other) {
  if (one.size() != other.size()) return fmt::format("{} and {} tensors", one.size(), other.size());
  const auto at = std::ranges::mismatch(one, other).in1 - one.begin();
  return fmt::format("number {} of {}", at + 1, one.size());
}

std::string sentence(const DigestedTask& task, const DigestedTask& other, Difference what) {
  const std::string name = name_of(task);
  switch (what) {
    case Difference::kOutputs:
      return fmt::format("{} read the same and wrote something else: result {}{}", name,
                         first_unequal(task.outputs, other.outputs),
                         is_collective(task) ? "; it brings what other ranks made: look at theirs first"
                         : draws(task.type)  ? "; it draws random numbers: set a seed"
                                             : "");
    case Difference::kInputs:
      return fmt::format(
          "{} was given something else: argument {}, which no operator before it made: it comes from the host (data in "
          "another order, random numbers without a seed, a clock, an operator that ran there)",
          name, first_unequal(task.inputs, other.inputs));
    case Difference::kParameters:
      return fmt::format("{} was called with other parameters: a number or a seed that the program chose anew", name);
    case Difference::kWay: return fmt::format("{} stands where the other run has {}", name, name_of(other));
  }
  return name;
}

/// Nothing where they are equal.
std::optional<Difference> difference(const DigestedTask& one, const DigestedTask& other) {
  if (one.type != other.type || one.node != other.node) return Difference::kWay;
  if (one.inputs != other.inputs) return Difference::kInputs;
  if (one.parameters != other.parameters) return Difference::kParameters;
  if (one.outputs != other.outputs) return Difference::kOutputs;
  return std::nullopt;
}

using Lanes = std::map<Lane, std::vector<const DigestedTask*>>;

Lanes lanes_of(const DigestFile& file) {
  Lanes lanes;
  for (const DigestedTask& task : file.tasks()) lanes[task.lane].push_back(&task);
  return lanes;
}

class Comparison {
 public:
  Comparison(const DigestFile& one, const DigestFile& other) : one_(one), others_(lanes_of(other)) {}

  TwoRuns run() {
    for (const DigestedTask& task : one_.tasks()) look(task);
    for (const auto& [lane, tasks] : others_)
      if (const size_t seen = seen_[lane]; seen < tasks.size() && !lost_[lane])
        find(*tasks[seen], seen, Difference::kWay, fmt::format("{} is in the second run alone", name_of(*tasks[seen])));
    return std::move(result_);
  }

 private:
  void look(const DigestedTask& task) {
    const uint64_t ordinal = seen_[task.lane]++;
    if (lost_[task.lane]) return;
    const auto& lane = others_[task.lane];
    if (ordinal >= lane.size()) {
      lost_[task.lane] = true;
      return find(task, ordinal, Difference::kWay, name_of(task) + " is in the first run alone");
    }
    const DigestedTask& other = *lane[ordinal];
    const auto what = difference(task, other);
    ++result_.operators;
    if (!what) return;
    ++result_.different;
    lost_[task.lane] = *what == Difference::kWay;  // from here on, nothing stands at its place
    find(task, ordinal, *what, sentence(task, other, *what));
  }

  void find(const DigestedTask& task, uint64_t ordinal, Difference what, std::string text) {
    Found found{what, Place{task.lane.device, task.lane.stream, ordinal, std::string(task.lane.graph)}, std::move(text),
                what == Difference::kOutputs && is_collective(task)};
    if (what == Difference::kOutputs && !result_.operator_) result_.operator_ = found;
    if (!result_.first) result_.first = std::move(found);
  }

  const DigestFile& one_;
  Lanes others_;
  std::map<Lane, size_t> seen_;
  std::map<Lane, bool> lost_;
  TwoRuns result_;
};

}  // namespace

std::string TwoRuns::text() const {
  if (equal()) return fmt::format("equal bits in all {} operators", operators);
  std::string text = fmt::format("{}; {} of {} operators differ", first->text, different, operators);
  if (operator_ && first->what != Difference::kOutputs)
    text += fmt::format("\nthe first that read the same: {}", operator_->text);
  return text;
}

TwoRuns compared(const DigestFile& one, const DigestFile& other) { return Comparison(one, other).run(); }

}  // namespace npu::compare
