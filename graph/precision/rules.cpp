// SPDX-License-Identifier: Apache-2.0
// Rules for single nodes. customize_dtypes:
//
//   model/dense/MatMul::InputDtype:float16,float16,OutputDtype:float32     a node
//   OpType::Relu:InputDtype:float16                                        all of an operator
//
// op_precision_mode: sections [ByOpType] and [ByNodeName] of name=value.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "graph/precision/precision.h"

namespace npu::graph {
namespace {

DType dtype_named(std::string_view name) {
  if (name == "float") return DType::kFloat;
  for (int number = 0; number <= static_cast<int>(DType::kFloat8E8M0); ++number)
    if (info(static_cast<DType>(number)).name == name && name != "unknown") return static_cast<DType>(number);
  return DType::kUndefined;
}

class DTypeLine {
 public:
  DTypeLine(std::string_view text, std::string_view line) : text_(text), rest_(line) {}

  /// True in `by_operator` when it names an operator.
  DTypeRule read(bool& by_operator) {
    rule_.line = line_of(text_, place_of(rest_, text_));
    std::string_view name = take("::", "a line is <node>::InputDtype:… or OpType::<operator>:InputDtype:…");
    by_operator = name == "OpType";
    if (by_operator) name = take(":", "the operator is followed by :InputDtype:… or :OutputDtype:…");
    if (trimmed(name).empty()) malformed(text_, place_of(name, text_), "there is no name");
    rule_.named = trimmed(name);
    if (rest_.empty()) malformed(text_, place_of(rest_, text_), "no dtype is given; write InputDtype:float16");
    while (!rest_.empty()) read_item();
    return std::move(rule_);
  }

 private:
  std::string_view take(std::string_view end, std::string_view expected) {
    const size_t at = rest_.find(end);
    if (at == std::string_view::npos) malformed(text_, place_of(rest_, text_), expected);
    const std::string_view out = rest_.substr(0, at);
    rest_.remove_prefix(at + end.size());
    return out;
  }

  /// One dtype, with the word in front of the first.
  void read_item() {
    const size_t comma = std::min(rest_.find(','), rest_.size());
    std::string_view item = trimmed(rest_.substr(0, comma));
    rest_.remove_prefix(std::min(comma + 1, rest_.size()));
    if (item.starts_with("InputDtype:")) into_ = &rule_.inputs, item.remove_prefix(11);
    if (item.starts_with("OutputDtype:")) into_ = &rule_.outputs, item.remove_prefix(12);
    const size_t at = place_of(item, text_);
    if (into_ == nullptr) malformed(text_, at, "dtypes follow InputDtype: or OutputDtype:");
    const DType dtype = dtype_named(trimmed(item));
    if (dtype == DType::kUndefined)
      malformed(text_, at, fmt::format("'{}' is no dtype; write float16, float32, bfloat16 …", trimmed(item)));
    into_->push_back(dtype);
  }

  const std::string_view text_;
  std::string_view rest_;
  DTypeRule rule_;
  std::vector<DType>* into_ = nullptr;
};

template <class Rule>
void add(std::vector<Rule>& rules, Rule rule, std::string_view text, std::string_view line) {
  const auto twin =
      std::find_if(rules.begin(), rules.end(), [&](const Rule& other) { return other.named == rule.named; });
  if (twin != rules.end())
    malformed(text, place_of(line, text), fmt::format("{} has a rule already, in line {}", rule.named, twin->line));
  rules.push_back(std::move(rule));
}

constexpr std::string_view kActing[] = {"keep_fp16", "enable_float_32_execution", "enable_hi_float_32_execution"};
/// They choose among implementations, of which there is one.
constexpr std::string_view kIdle[] = {"high_precision", "high_performance", "super_performance",
                                      "support_out_of_bound_index"};

template <size_t n>
bool is_one_of(std::string_view value, const std::string_view (&values)[n]) {
  return std::ranges::find(values, value) != std::end(values);
}

/// One sentence for each word that has no effect, with the operators or nodes it stands at.
std::vector<std::string> idle_words(const std::vector<ImplementationRule>& by_operator,
                                    const std::vector<ImplementationRule>& by_node) {
  std::vector<std::string> out;
  for (const std::string_view word : kIdle) {
    std::vector<std::string> named;
    for (const auto* rules : {&by_operator, &by_node})
      for (const ImplementationRule& rule : *rules)
        if (rule.value == word) named.push_back(rule.named);
    if (named.empty()) continue;
    out.push_back(
        fmt::format("{} has no effect (on {}): each operator has one implementation, with float32 inside and "
                    "indices checked; keep_fp16, enable_float_32_execution act",
                    word, fmt::join(named, ", ")));
  }
  return out;
}

}  // namespace

std::vector<std::string> Precision::read_dtypes(std::string_view text) {
  std::vector<DTypeRule> by_node, by_operator;
  each_line(text, [&](std::string_view line) {
    bool of_operator = false;
    DTypeRule rule = DTypeLine(text, line).read(of_operator);
    add(of_operator ? by_operator : by_node, std::move(rule), text, line);
  });
  node_dtypes_ = std::move(by_node);
  operator_dtypes_ = std::move(by_operator);
  return {};
}

std::vector<std::string> Precision::read_implementations(std::string_view text) {
  std::vector<ImplementationRule> by_node, by_operator;
  std::vector<ImplementationRule>* section = nullptr;
  each_line(text, [&](std::string_view line) {
    const size_t at = place_of(line, text);
    if (line.front() == '[') {
      section = line == "[ByOpType]" ? &by_operator : line == "[ByNodeName]" ? &by_node : nullptr;
      if (section == nullptr)
        malformed(text, at, fmt::format("there is no section {}; there are [ByOpType] and [ByNodeName]", line));
      return;
    }
    if (section == nullptr) malformed(text, at, "a section comes first: [ByOpType] or [ByNodeName]");
    const size_t equals = line.find('=');
    const std::string_view name = trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos || name.empty())
      malformed(text, at, "a line is <name>=<mode>, as in SoftmaxV2=high_precision");
    const std::string_view value = trimmed(line.substr(equals + 1));
    if (!is_one_of(value, kActing) && !is_one_of(value, kIdle))
      malformed(
          text, place_of(line, text) + equals + 1,
          fmt::format("'{}' is no mode; there are {}, {}", value, fmt::join(kActing, ", "), fmt::join(kIdle, ", ")));
    add(*section, ImplementationRule{std::string(name), std::string(value), line_of(text, at)}, text, line);
  });
  node_implementations_ = std::move(by_node);
  operator_implementations_ = std::move(by_operator);
  return idle_words(operator_implementations_, node_implementations_);
}

}  // namespace npu::graph
