// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/face/selection.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <optional>
#include <set>

#include "tools/compare/exit/refusal.h"
#include "tools/compare/face/face.h"

namespace npu::compare {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> found;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    std::string part = text.substr(at, end - at);
    std::erase(part, ' ');
    found.push_back(std::move(part));
    at = end + 1;
  }
  return found;
}

std::optional<Metric> metric_of(const std::string& word) {
  if (word.size() == 1 && word[0] >= '0' && word[0] <= '9') return static_cast<Metric>(word[0] - '0');
  const auto at = std::ranges::find(kMetricNames, word);
  if (at == kMetricNames.end()) return std::nullopt;
  return static_cast<Metric>(at - kMetricNames.begin());
}

int64_t number(const std::string& text, std::string_view form) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    throw Refusal(Exit::kParameter, fmt::format("\"{}\" is no number of an operator; the form is {}.", text, form));
  return value;
}

void check_range(std::string_view name, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high)
    throw Refusal(Exit::kIndex, fmt::format("The {} index ({}) is out of range [{}, {}]. Please check the index.", name,
                                            value, low, high));
}

using Wanted = std::function<bool(int64_t)>;

Wanted in_range(const std::string& text, int64_t last) {
  constexpr std::string_view kForm = "\"start,end,step\"";
  const auto parts = split(text);
  if (parts.size() != 3)
    throw Refusal(Exit::kParameter, fmt::format("The range ({}) is invalid, just supports {}.", text, kForm));
  const auto part = [&](size_t i, int64_t otherwise) { return parts[i].empty() ? otherwise : number(parts[i], kForm); };
  const int64_t start = part(0, 1), end = parts[1] == "-1" ? last : part(1, last), step = part(2, 1);
  check_range("start", start, 1, last), check_range("end", end, start, last), check_range("step", step, 1, last - 1);
  return [=](int64_t at) { return at >= start && at <= end && (at == start || at == end || (at - start) % step == 0); };
}

Wanted among(const std::string& text, int64_t last) {
  std::set<int64_t> wanted, outside;
  for (const std::string& part : split(text))
    if (!part.empty()) {
      const int64_t at = number(part, "\"index_1, index_2, ...\"");
      (at <= last ? wanted : outside).insert(at);
    }
  const std::string message = fmt::format("Index [{}] out of range [1,{}].", fmt::join(outside, ", "), last);
  if (!outside.empty() && wanted.empty()) throw Refusal(Exit::kParameter, message);
  if (!outside.empty()) warn(message);
  return [=](int64_t at) { return wanted.contains(at); };
}

}  // namespace

Metrics selected(const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "all" || words[0] == "ALL") return all_metrics();
  Metrics found;
  for (const std::string& word : words)
    for (const std::string& part : split(word)) {
      if (part.empty()) continue;
      const auto metric = metric_of(part);
      if (!metric) warn(fmt::format("'{}' is no algorithm and is passed over.", part));
      if (metric && std::ranges::find(found, *metric) == found.end()) found.push_back(*metric);
    }
  if (found.empty())
    throw Refusal(Exit::kAlgorithm,
                  fmt::format("There is no algorithm named. Known are {}.", fmt::join(kMetricNames, ", ")));
  return found;
}

std::vector<size_t> selected_groups(const FusionRule& rule, const std::string& range, const std::string& select) {
  std::vector<size_t> groups;
  if (range.empty() && select.empty()) {
    groups.resize(rule.groups().size());
    std::iota(groups.begin(), groups.end(), size_t{0});
    return groups;
  }
  const auto& order = rule.by_sequence();
  const int64_t last = order.empty() ? 0 : rule.op(order.back()).sequence;
  const Wanted wanted = range.empty() ? among(select, last) : in_range(range, last);
  for (const size_t op : order)
    if (wanted(rule.op(op).sequence) && std::ranges::find(groups, rule.op(op).group) == groups.end())
      groups.push_back(rule.op(op).group);
  return groups;
}

}  // namespace npu::compare
