// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/rule/rule_index.h"

#include <algorithm>

#include "tools/migrate/names/known.h"

namespace npu::migrate {
namespace {

/// "f" of "a.b.f", "a.f()" and "?.f"; "*" where a pattern leaves it open.
std::string_view last_component(std::string_view name) {
  const size_t dot = name.rfind('.');
  const std::string_view last = dot == name.npos ? name : name.substr(dot + 1);
  return last.find('*') == last.npos ? last : "*";
}

}  // namespace

Meant meant(const Rule& rule, const Value& value, std::string_view name) {
  const auto fits = [&](const std::string& pattern) { return matches(pattern, name); };
  if (value.is_name() || value.is_text()) {
    if (std::ranges::any_of(rule.except, fits)) return Meant::kNo;
    return value.is_name() && std::ranges::any_of(rule.names, fits) ? Meant::kYes : Meant::kNo;
  }
  if (!value.is_unknown()) return Meant::kNo;
  return std::ranges::any_of(rule.unknown, [&](const std::string& way) { return name.ends_with(way); })
             ? Meant::kPerhaps
             : Meant::kNo;
}

RuleIndex::RuleIndex(std::vector<const Rule*> rules) : rules_(std::move(rules)) {
  for (size_t i = 0; i < rules_.size(); ++i) {
    const Rule& rule = *rules_[i];
    Table& table = tables_[static_cast<size_t>(rule.on)];
    for (const std::string& name : rule.names) {
      if (name.find('*') == name.npos)
        table.exact[name].push_back({&rule, i, name});
      else
        table.by_last[std::string(last_component(name))].push_back({&rule, i, name});
    }
    for (const std::string& way : rule.unknown)
      table.by_last[std::string(last_component(way))].push_back({&rule, i, "?*" + way});
  }
}

std::vector<const Rule*> RuleIndex::meeting(Rule::On on, std::string_view name) const {
  std::vector<const Entry*> found;
  const auto take = [&](const Entries& entries, std::string_view key, bool all) {
    if (const auto at = entries.find(key); at != entries.end())
      for (const Entry& entry : at->second)
        if (all || matches(entry.pattern, name)) found.push_back(&entry);
  };
  const Table& table = tables_[static_cast<size_t>(on)];
  take(table.exact, name, true);
  take(table.by_last, last_component(name), false);
  take(table.by_last, "*", false);
  std::ranges::stable_sort(found, {}, &Entry::order);
  std::vector<const Rule*> out;
  for (const Entry* entry : found)
    if (out.empty() || out.back() != entry->rule) out.push_back(entry->rule);
  return out;
}

}  // namespace npu::migrate
