// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/known.h"

#include "tools/migrate/text/built_in.h"

namespace npu::migrate {
namespace {

std::vector<std::string_view> split(std::string_view line, char by) {
  std::vector<std::string_view> out;
  for (size_t at; (at = line.find(by)) != line.npos; line.remove_prefix(at + 1)) out.push_back(line.substr(0, at));
  out.push_back(line);
  return out;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = pattern.npos, mark = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

KnownNames::KnownNames(std::string_view table) {
  for (const std::string_view line : split(table, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string_view> column = split(line, '\t');
    if (column[0] == "root") roots_.emplace(column[1]);
    if (column[0] == "after") after_.emplace(column[2], column[1]);
    if (column[0] == "upon") upon_.emplace_back(column[2], column[1]);
    if (column[0] == "gives")
      gives_[Word(column[1].substr(0, column[1].find('.')))].push_back(
          {std::string(column[1]), std::string(column[2]), spelled_path(column[2])});
    if (column[0] != "alias") continue;
    Branch* at = &aliases_;
    for (const Step& step : spelled_path(column[1])) {
      std::unique_ptr<Branch>& next = at->next[step];
      if (!next) next = std::make_unique<Branch>();
      at = next.get();
    }
    if (!at->becomes) at->becomes = spelled_path(column[2]);
  }
}

/// Where the longest beginning that has another spelling gets its first one.
bool KnownNames::respell(AccessPath& path) const {
  const Branch* at = &aliases_;
  const AccessPath* becomes = nullptr;
  size_t count = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    const auto next = at->next.find(path[i]);
    if (next == at->next.end()) break;
    at = next->second.get();
    if (at->becomes && parts_at(path, i + 1)) becomes = &*at->becomes, count = i + 1;
  }
  if (becomes == nullptr) return false;
  path = joined(*becomes, Steps(path).subspan(count));
  return true;
}

/// What a call gives, where its name does not say it.
bool KnownNames::give(AccessPath& path) const {
  if (path.empty() || path.back().how != Step::How::kCall) return false;
  const auto candidates = gives_.find(path.front().name);
  if (candidates == gives_.end()) return false;
  std::string name;
  spell(path, true, name);
  for (const Gives& gives : candidates->second) {
    if (name == gives.name || !matches(gives.pattern, name)) continue;
    path = gives.path;
    return true;
  }
  return false;
}

Value KnownNames::canonical(Value value) const {
  if (!value.is_library()) return value;
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    const bool respelled = respell(value.path), given = give(value.path);
    if (!respelled && !given) break;
  }
  return value;
}

std::string KnownNames::canonical(std::string_view name) const {
  return canonical(Value::library(spelled_path(name))).spelled();
}

std::string_view KnownNames::made_of(std::string_view dotted) const {
  const std::string_view package = dotted.substr(0, dotted.find('.'));
  for (const auto& [pattern, framework] : upon_)
    if (matches(pattern, package) || matches(pattern, dotted)) return framework;
  return "";
}

const KnownNames& known_names() {
  static const KnownNames made(built_in("names.tsv"));
  return made;
}

}  // namespace npu::migrate
