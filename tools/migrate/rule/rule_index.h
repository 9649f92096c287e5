// SPDX-License-Identifier: Apache-2.0
// Rules by the names they mean.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/migrate/names/value.h"
#include "tools/migrate/rule/rule.h"

namespace npu::migrate {

/// Whether a rule means a value: by name, or only perhaps, by the way from an unknown receiver.
enum class Meant { kNo, kPerhaps, kYes };

/// `name`: the value as rules spell it.
Meant meant(const Rule& rule, const Value& value, std::string_view name);

/// Rules by how places are met, made once for a run.
class RuleIndex {
 public:
  explicit RuleIndex(std::vector<const Rule*> rules);
  /// Rules of this kind that may mean `name` ("?.cuda" for an unknown receiver), in the order of the book.
  std::vector<const Rule*> meeting(Rule::On on, std::string_view name) const;
  const std::vector<const Rule*>& all() const { return rules_; }

 private:
  struct Entry {
    const Rule* rule;
    size_t order;
    std::string pattern;
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;  // nodes are asked about by the million: no key is made for it
  };
  using Entries = std::unordered_map<std::string, std::vector<Entry>, Hash, std::equal_to<>>;
  struct Table {
    Entries exact, by_last;  // by_last: by last component; "*" for any
  };
  std::vector<const Rule*> rules_;
  std::array<Table, Rule::kWaysToMeet> tables_;
};

}  // namespace npu::migrate
