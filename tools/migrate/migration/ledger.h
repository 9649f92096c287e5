// SPDX-License-Identifier: Apache-2.0
// What is reported of a file: a row for every change and for every place that is left, and what other files are asked.
#pragma once

#include <string>
#include <vector>

#include "tools/migrate/migration/change.h"
#include "tools/migrate/rule/rule.h"
#include "tools/migrate/text/tree.h"

namespace npu::migrate {

class Ledger {
 public:
  explicit Ledger(const Tree& tree) : tree_(tree) {}

  /// Begins a row for `node`; edits name it by the number that comes back.
  size_t change(const Rule& rule, Node node, Change::Kind kind = Change::Kind::kModify);
  /// A row for something that stands elsewhere in this file.
  size_t change_at(const Rule& rule, size_t begin, size_t end);
  /// A row that another file asked for.
  size_t change_for(const Remote& asked);
  void note(const Rule& rule, Node node, std::string report, std::string message);
  Change& row(size_t change) { return rows_[change]; }
  const std::vector<Change>& rows() const { return rows_; }
  /// Takes back the row that was begun last.
  void drop_last() { rows_.pop_back(); }
  bool tells_of(const Rule& rule) const;

  /// Asks the file that a literal stands in for an edit of how it begins.
  void edit_elsewhere(const Rule& rule, const Value& literal, std::string text);
  void use(Node node, std::string name) { uses_.push_back({node.line(), std::move(name)}); }
  const std::vector<Use>& uses() const { return uses_; }

  /// How far it is, and back there.
  struct Mark {
    size_t rows = 0, remote = 0;
    bool operator==(const Mark&) const = default;
  };
  Mark mark() const { return {rows_.size(), remote_.size()}; }
  void back_to(Mark mark);

  /// Before and after of every row, read from the edits; then rows that came to nothing go, the others in the order of
  /// their lines.
  void close(const Edits& edits);
  /// Only what was listed remains: nothing of the file is changed after all.
  void take_back_changes();
  /// Hands over all that was told.
  void give_to(FileResult& result);

 private:
  void tell_what_became(const Edits& edits);
  void settle_rows(const Edits& edits);
  bool went_with_an_edit(const Change& row, const Edits& edits) const;
  const Source& source() const { return tree_.source(); }

  const Tree& tree_;
  std::vector<Change> rows_;
  std::vector<Use> uses_;
  std::vector<Remote> remote_;
};

}  // namespace npu::migrate
