// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/ledger.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tools/migrate/rule/pending.h"
#include "tools/migrate/text/words.h"

namespace npu::migrate {

size_t Ledger::change(const Rule& rule, Node node, Change::Kind kind) {
  Change& row = rows_.emplace_back();
  row.rule = rule.id;
  row.kind = kind;
  row.line = node.line();
  row.last_line = node.last_line();
  row.begin = node.begin();
  row.end = node.end();
  row.before = one_line(node.text());
  row.message = rule.message;
  return rows_.size() - 1;
}

size_t Ledger::change_at(const Rule& rule, size_t begin, size_t end) {
  const size_t row = change(rule, tree_.root());
  Change& made = rows_[row];
  made.line = source().line(begin);
  made.last_line = source().line(end);
  made.before = one_line(std::string_view(source().bytes()).substr(begin, end - begin));
  return row;
}

void Ledger::note(const Rule& rule, Node node, std::string report, std::string message) {
  Change& row = rows_[change(rule, node, Change::Kind::kNote)];
  row.report = std::move(report);
  row.message = std::move(message);
}

void Ledger::edit_elsewhere(const Rule& rule, const Value& literal, std::string text) {
  Change row;
  row.rule = rule.id;
  row.before = literal.text;
  row.message = rule.message;
  const size_t colon = literal.text.find(':');
  const auto end = literal.origin.begin + static_cast<uint32_t>(std::min(colon, literal.text.size()));
  remote_.push_back(
      {{literal.origin.file, literal.origin.begin, end}, std::move(text), std::move(row), colon != literal.text.npos});
}

size_t Ledger::change_for(const Remote& asked) {
  Change row = asked.change;
  row.line = row.last_line = source().line(asked.place.begin);
  row.begin = asked.place.begin;
  row.end = asked.place.end;
  rows_.push_back(std::move(row));
  return rows_.size() - 1;
}

bool Ledger::tells_of(const Rule& rule) const {
  return std::ranges::any_of(rows_, [&](const Change& row) { return row.rule == rule.id; });
}

void Ledger::back_to(Mark mark) {
  rows_.resize(mark.rows);
  remote_.resize(mark.remote);
}

void Ledger::take_back_changes() {
  remote_.clear();
  std::erase_if(rows_, [](const Change& row) { return row.report.empty(); });
}

void Ledger::give_to(FileResult& result) {
  result.changes = std::move(rows_);
  result.uses = std::move(uses_);
  result.remote = std::move(remote_);
}

void Ledger::close(const Edits& edits) {
  tell_what_became(edits);
  settle_rows(edits);
}

/// Whether what the row lists went with a change around it: then it is nobody's work any more.
bool Ledger::went_with_an_edit(const Change& row, const Edits& edits) const {
  const std::string_view text = std::string_view(source().bytes()).substr(row.begin, row.end - row.begin);
  return std::ranges::any_of(edits.list(), [&](const Edit& edit) {
    return edit.begin <= row.begin && row.end <= edit.end && edit.end - edit.begin > row.end - row.begin &&
           edit.text.find(text) == edit.text.npos;
  });
}

/// Of long places only what the change itself touches is told.
void Ledger::tell_what_became(const Edits& edits) {
  constexpr size_t kLong = 120;
  std::map<size_t, std::pair<size_t, size_t>> touched;
  for (const Edit& edit : edits.list()) {
    const auto [at, fresh] = touched.try_emplace(edit.change, edit.begin, edit.end);
    if (!fresh) at->second = {std::min(at->second.first, edit.begin), std::max(at->second.second, edit.end)};
  }
  for (const auto& [change, range] : touched) {
    Change& row = rows_[change];
    // Lines put around a whole program: the row names where they are, not the file.
    const auto replaces = [&](const Edit& edit) { return edit.change == change && edit.begin != edit.end; };
    if (row.line == 1 && row.last_line >= source().line_count() - 1 && std::ranges::none_of(edits.list(), replaces)) {
      row.kind = Change::Kind::kInsert;
      row.line = source().line(range.first);
      row.last_line = source().line(range.second);
    }
    if (!row.after.empty() || row.kind == Change::Kind::kDelete) continue;
    auto [begin, end] = std::pair(row.begin, row.end);
    if (range.first < begin || range.second > end || end - begin > kLong) std::tie(begin, end) = range;
    row.before = one_line(std::string_view(source().bytes()).substr(begin, end - begin));
    row.after = one_line(edits.applied(source(), begin, end, change));
  }
}

void Ledger::settle_rows(const Edits& edits) {
  std::vector<Change> kept;
  std::set<size_t> edited;
  for (const Edit& edit : edits.list()) {
    edited.insert(edit.change);
    pending_names().warn(edit.text, rows_[edit.change].message);
  }
  for (size_t i = 0; i < rows_.size(); ++i)
    if (edited.contains(i) || (!rows_[i].report.empty() && !went_with_an_edit(rows_[i], edits)))
      kept.push_back(std::move(rows_[i]));
  std::ranges::stable_sort(kept, {}, &Change::line);
  rows_ = std::move(kept);
}

}  // namespace npu::migrate
