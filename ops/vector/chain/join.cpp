// SPDX-License-Identifier: Apache-2.0
#include "ops/vector/chain/join.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <utility>

namespace npu::ops {
namespace {

/// Operands of a step of a formula: a letter is a value from outside, a digit the result of the formula's step of that
/// place.
struct FormulaStep {
  std::string_view op, operands;
};

/// Lines of joined.cpp and joined_hard.cpp take the letters in the order of `letters`.
struct Formula {
  std::string_view line, letters;
  std::array<std::string_view, 5> fields;
  std::array<FormulaStep, 5> steps;
};

constexpr Formula kFormulas[] = {
    {"joined_hard_swish",
     "xabhl",
     {"x", "slope", "offset", "high", "low"},
     {{{"mul", "xa"}, {"add", "0b"}, {"minimum", "1h"}, {"maximum", "2l"}, {"mul", "x3"}}}},
    {"joined_hard_sigmoid",
     "xabhl",
     {"x", "slope", "offset", "high", "low"},
     {{{"mul", "xa"}, {"add", "0b"}, {"minimum", "1h"}, {"maximum", "2l"}}}},
    {"joined_gelu_of_quotient",
     "xroh",
     {"x", "root", "one", "half"},
     {{{"div", "xr"}, {"erf", "0"}, {"add", "1o"}, {"mul", "x2"}, {"mul", "3h"}}}},
    {"joined_half_gelu_of_quotient",
     "xroh",
     {"x", "root", "one", "half"},
     {{{"div", "xr"}, {"erf", "0"}, {"add", "1o"}, {"mul", "xh"}, {"mul", "23"}}}},
    {"joined_half_gelu_of_product",
     "xfoh",
     {"x", "factor", "one", "half"},
     {{{"mul", "xf"}, {"erf", "0"}, {"add", "1o"}, {"mul", "xh"}, {"mul", "23"}}}},
    {"joined_silu", "x", {"x"}, {{{"sigmoid", "x"}, {"mul", "x0"}}}},
    {"joined_sum", "xy", {"x", "y"}, {{{"add", "xy"}}}},
};

size_t length(const Formula& f) {
  return static_cast<size_t>(std::ranges::count_if(f.steps, [](const FormulaStep& s) { return !s.op.empty(); }));
}

// Either order gives the same bits. Of two zeros minimum and maximum take the first.
bool commutes(std::string_view op) { return op == "add" || op == "mul"; }

/// Where a formula was found: its letters' registers and the steps that it takes the place of.
class Match {
 public:
  Match(const ChainGroup& group, const std::vector<int>& reads, const Formula& formula)
      : group_(group), reads_(reads), formula_(formula), registers_(formula.letters.size(), -1) {}

  /// True if the result of step `end` is the formula.
  bool ends(size_t end) {
    dtype_ = group_.steps[end].result;
    return (dtype_ == DType::kFloat || dtype_ == DType::kDouble) &&
           takes(length(formula_) - 1, reg_of(end), [] { return true; });
  }
  const std::vector<size_t>& steps() const { return steps_; }
  ChainStep step() const {
    ChainStep out{std::string(formula_.line), dtype_};
    for (size_t i = 0; i < registers_.size(); ++i) out.operands.emplace_back(formula_.fields[i], registers_[i]);
    return out;
  }

 private:
  int reg_of(size_t step) const { return static_cast<int>(group_.inputs.size() + step); }
  DType dtype_of(int reg) const {
    const auto i = static_cast<size_t>(reg);
    return i < group_.inputs.size() ? group_.inputs[i] : group_.steps[i - group_.inputs.size()].result;
  }

  using Next = std::function<bool()>;

  /// The formula's step `place` is what made `reg`, and `next` holds as well. What did not fit is taken back.
  bool takes(size_t place, int reg, const Next& next) {
    const auto first = static_cast<int>(group_.inputs.size());
    const bool last = place + 1 == length(formula_);
    if (reg < first || (!last && reads_[static_cast<size_t>(reg)] != 1)) return false;
    const ChainStep& step = group_.steps[static_cast<size_t>(reg - first)];
    const FormulaStep& wanted = formula_.steps[place];
    if (step.op != wanted.op || step.result != dtype_ || !step.numbers.empty()) return false;
    if (step.operands.size() != wanted.operands.size()) return false;
    steps_.push_back(static_cast<size_t>(reg - first));
    std::vector<int> registers;
    for (const auto& [field, operand] : step.operands) registers.push_back(operand);
    if (takes(wanted.operands, registers, next)) return true;
    std::ranges::reverse(registers);
    if (registers.size() == 2 && commutes(step.op) && takes(wanted.operands, registers, next)) return true;
    steps_.pop_back();
    return false;
  }

  bool takes(std::string_view wanted, std::span<const int> registers, const Next& next) {
    if (wanted.empty()) return next();
    const Next rest = [&] { return takes(wanted.substr(1), registers.subspan(1), next); };
    const char name = wanted[0];
    const int reg = registers[0];
    if (name >= '0' && name <= '9') return takes(static_cast<size_t>(name - '0'), reg, rest);
    int& bound = registers_[formula_.letters.find(name)];
    if (dtype_of(reg) != dtype_ || (bound >= 0 && bound != reg)) return false;
    const int before = std::exchange(bound, reg);
    if (rest()) return true;
    bound = before;
    return false;
  }

  const ChainGroup& group_;
  const std::vector<int>& reads_;
  const Formula& formula_;
  DType dtype_ = DType::kUndefined;
  std::vector<int> registers_;  ///< by letter
  std::vector<size_t> steps_;
};

/// By register: how often steps and outputs read it.
std::vector<int> reads_of(const ChainGroup& group) {
  std::vector<int> reads(group.inputs.size() + group.steps.size());
  for (const ChainStep& step : group.steps)
    for (const auto& [field, reg] : step.operands) ++reads[static_cast<size_t>(reg)];
  for (const int output : group.outputs) ++reads[static_cast<size_t>(output)];
  return reads;
}

std::optional<Match> match_at(const ChainGroup& group, const std::vector<int>& reads, size_t end) {
  for (const Formula& formula : kFormulas) {
    Match match(group, reads, formula);
    if (match.ends(end)) return match;
  }
  return std::nullopt;
}

/// Without the steps in `gone`, whose results nothing reads any more.
ChainGroup without(const ChainGroup& group, const std::vector<bool>& gone) {
  ChainGroup out{group.inputs, {}, group.outputs};
  std::vector<int> place(group.inputs.size() + group.steps.size());
  for (size_t i = 0; i < group.inputs.size(); ++i) place[i] = static_cast<int>(i);
  for (size_t i = 0; i < group.steps.size(); ++i) {
    if (gone[i]) continue;
    ChainStep step = group.steps[i];
    for (auto& [field, reg] : step.operands) reg = place[static_cast<size_t>(reg)];
    place[group.inputs.size() + i] = static_cast<int>(group.inputs.size() + out.steps.size());
    out.steps.push_back(std::move(step));
  }
  for (int& output : out.outputs) output = place[static_cast<size_t>(output)];
  return out;
}

}  // namespace

ChainGroup joined(const ChainGroup& group) {
  ChainGroup all = group;
  const std::vector<int> reads = reads_of(group);
  std::vector<bool> gone(group.steps.size());
  // From the end, so that the longest formula that ends at a step takes it before a shorter one inside does.
  for (size_t end = group.steps.size(); end-- > 0;) {
    if (gone[end]) continue;
    const auto match = match_at(group, reads, end);
    if (!match) continue;
    for (const size_t step : match->steps()) gone[step] = true;
    gone[end] = false;
    all.steps[end] = match->step();
  }
  return without(all, gone);
}

}  // namespace npu::ops
