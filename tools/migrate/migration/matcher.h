// SPDX-License-Identifier: Apache-2.0
// What stands where: every place of a file is met by its resolved name, and by what it is for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/migrate/migration/migration.h"
#include "tools/migrate/rule/rule_index.h"

namespace npu::migrate {

/// Finds the rules that mean a place, and has them applied.
class Matcher {
 public:
  Matcher(Migration& migration, const RuleIndex& rules) : migration_(migration), rules_(rules) {}

  /// Asks the rules about the file as such.
  void meet_file(Rule::On on);
  /// All places in it.
  void meet_places();

 private:
  void meet(Rule::On on, Node node, Node asked);
  void visit(Node node);
  void visit_import(Node statement);
  void visit_given(Node node);
  void visit_compared(Node node);
  void give(std::string_view name, Node value);
  void record_use(Node node);
  Script& script() { return migration_.script; }
  Evaluator& names() { return migration_.script.names(); }
  const Tree& tree() const { return migration_.script.tree(); }

  Migration& migration_;
  const RuleIndex& rules_;
  std::vector<std::string> spelled_;  // what the values of a place are spelled, kept for its memory
};

}  // namespace npu::migrate
