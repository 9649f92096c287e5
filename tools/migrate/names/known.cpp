// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/known.h"

#include "tools/migrate/rule/built_in.h"

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
    if (column[0] == "alias") aliases_.emplace(column[1], column[2]);
    if (column[0] == "after") after_.emplace(column[2], column[1]);
    if (column[0] == "upon") upon_.emplace_back(column[2], column[1]);
    if (column[0] == "gives")
      gives_[std::string(column[1].substr(0, column[1].find('.')))].push_back(
          {std::string(column[1]), std::string(column[2])});
  }
}

std::string KnownNames::canonical(std::string name) const {
  if (name.starts_with(':')) return name;
  for (int round = 0; round < 8; ++round) {
    bool changed = false;
    // The longest prefix that has another spelling.
    for (size_t end = name.size(); end != name.npos && end > 0; end = name.rfind('.', end - 1)) {
      const auto found = aliases_.find(name.substr(0, end));
      if (found == aliases_.end()) continue;
      name = found->second + name.substr(end);
      changed = true;
      break;
    }
    const auto candidates = gives_.find(name.substr(0, name.find('.')));
    if (candidates != gives_.end() && name.ends_with(')'))
      for (const Gives& gives : candidates->second) {
        if (name == gives.name || !matches(gives.pattern, name)) continue;
        name = gives.name;
        changed = true;
        break;
      }
    if (!changed) break;
  }
  return name;
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
