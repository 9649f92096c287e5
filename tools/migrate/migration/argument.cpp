// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/argument.h"

#include <algorithm>

namespace npu::migrate {

using enum Kind;

Arguments::Arguments(Node call) : list_(call.is(k_call) ? call.child(Field::k_arguments) : Node()) {
  if (!list_) return;
  if (!list_.is(k_argument_list)) {  // f(x for x in y)
    positional_ = {list_};
    open_ = true;
    return;
  }
  all_ = list_.named();
  bool counts = true;
  for (const Node each : all_) {
    open_ = open_ || each.is(k_dictionary_splat);
    counts = counts && !each.is(k_list_splat);
    if (counts && !each.is(k_keyword_argument) && !each.is(k_dictionary_splat)) positional_.push_back(each);
  }
}

Node Arguments::at(int position) const {
  return position >= 0 && static_cast<size_t>(position) < positional_.size() ? positional_[position] : Node();
}

Node Arguments::keyword(std::string_view name) const {
  if (name.empty()) return {};
  for (const Node each : all_)
    if (each.is(k_keyword_argument) && each.child(Field::k_name).text() == name) return each;
  return {};
}

Node Arguments::value(int position, std::string_view name) const {
  const Node there = keyword(name);
  return there ? there.child(Field::k_value) : at(position);
}

void Arguments::add(Migration& migration, const std::string& text, size_t change) const {
  Node last;  // what the new argument follows
  for (const Node each : all_)
    if (!each.is(k_dictionary_splat)) last = each;
  if (!last) {
    const bool before_more = !all_.empty();
    const size_t at = before_more ? all_[0].begin() : list_.begin() + 1;
    const std::string comma = !before_more && migration.rewriter.edits().inserted(at) ? ", " : "";
    return migration.rewriter.edits().insert(at, before_more ? text + ", " : comma + text, change);
  }
  // Arguments on lines of their own get one more line like theirs.
  const std::string& bytes = migration.script.source().bytes();
  const size_t line = migration.script.source().line_begin(last.line());
  const bool own_line = bytes.find_first_not_of(" \t", line) == last.begin() && list_.line() != last.line();
  const std::string before =
      own_line ? "," + std::string(migration.script.source().newline()) + bytes.substr(line, last.begin() - line)
               : ", ";
  migration.rewriter.edits().append(last.end(), before + text, change);
}

void Arguments::remove(Migration& migration, Node argument, size_t change) const {
  const std::vector<Node> parts = list_.children();
  const auto found = std::ranges::find(parts, argument);
  if (found == parts.end()) return;  // f(x for x in y): the list is the argument
  size_t begin = argument.begin(), end = argument.end();
  const auto comma = [](Node node) { return node.is(kToken) && node.text() == ","; };
  // With the comma before it, so that neighbours may go, too; the first one goes with the comma after it.
  const auto before = found - parts.begin();
  const bool is_second =
      before == 3 && migration.rewriter.edits().replaced(parts[1].begin(), parts[1].end());  // the first went
  if (before > 1 && comma(*(found - 1)) && !is_second) {
    begin = (found - 1)->begin();
  } else if (found + 1 != parts.end() && comma(*(found + 1))) {
    end = (found + 1)->end();
    const std::string& bytes = migration.script.source().bytes();
    while (end < bytes.size() && (bytes[end] == ' ' || bytes[end] == '\t')) ++end;
  }
  migration.rewriter.edits().replace(begin, end, "", change);
}

bool Arguments::keep(Migration& migration, int position, std::string_view name, size_t change) const {
  Node kept = keyword(name);
  if (!kept) kept = at(position);
  if (!kept) return false;
  if (all_.empty()) return true;  // f(x for x in y): there is no other
  const size_t begin = all_.front().begin(), end = all_.back().end();
  if (begin < kept.begin()) migration.rewriter.edits().replace(begin, kept.begin(), "", change);
  if (kept.end() < end) migration.rewriter.edits().replace(kept.end(), end, "", change);
  return true;
}

}  // namespace npu::migrate
