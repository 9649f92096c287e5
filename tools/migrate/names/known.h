// SPDX-License-Identifier: Apache-2.0
// What is known of the frameworks' names: second spellings, and what calls give. Data, in rules/names.tsv.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/migrate/names/value.h"

namespace npu::migrate {

/// `*` stands for any characters, dots and parentheses too.
bool matches(std::string_view pattern, std::string_view name);

class KnownNames {
 public:
  /// Lines "root NAME", "alias FROM TO", "gives PATTERN NAME", "after FRAMEWORK LINE" and "upon FRAMEWORK PATTERN",
  /// columns parted by tabs; '#' begins a comment line.
  explicit KnownNames(std::string_view table);

  /// The one name of a thing that has several: keras.optimizers.Adam is tensorflow.keras.optimizers.Adam.
  Value canonical(Value value) const;
  /// The same of a dotted name.
  std::string canonical(std::string_view name) const;
  /// The framework that the package of this module, or of this name in one, is made of; "" where that is not known.
  std::string_view made_of(std::string_view dotted) const;
  /// The framework whose import this line stands behind; "" where it stands at the head.
  std::string_view line_after(std::string_view line) const {
    const auto found = after_.find(std::string(line));
    return found == after_.end() ? std::string_view() : std::string_view(found->second);
  }
  /// A top-level module of a framework; no file of a project takes its place.
  bool is_root(std::string_view module) const { return roots_.contains(std::string(module)); }

 private:
  /// Names that begin with the same steps.
  struct Branch {
    std::unordered_map<Step, std::unique_ptr<Branch>, StepHash> next;
    std::optional<AccessPath> becomes;  ///< the first spelling of the name that ends here
  };
  struct Gives {
    std::string pattern, name;
    AccessPath path;  ///< of the name
  };
  bool respell(AccessPath& path) const;
  bool give(AccessPath& path) const;
  std::unordered_set<std::string> roots_;
  Branch aliases_;
  std::unordered_map<std::string, std::string> after_;
  std::vector<std::pair<std::string, std::string>> upon_;         // pattern, framework
  std::unordered_map<Word, std::vector<Gives>, WordHash> gives_;  // by first component
};

/// The table the tool was built with.
const KnownNames& known_names();

}  // namespace npu::migrate
