// SPDX-License-Identifier: Apache-2.0
// What the vendor's form of rules asks for (rule/vendor_rule.cpp); the step's fields say with what.
#include <regex>
#include <sstream>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"

namespace npu::migrate {
namespace {

using enum Kind;

bool is_listed(const std::string& white_list, std::string_view text) {
  std::istringstream lines(white_list);
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(text.begin(), text.end(), std::regex(line, std::regex::icase))) return true;
  return false;
}

/// The argument `position` or `key` becomes `after`, goes where that is empty, stays where `missing` lists it.
bool argument(Migration& migration, const Rule& rule, Node node, size_t change) {
  const Action& action = rule.actions[0];
  const Arguments arguments(node);
  const Node keyword = arguments.keyword(action.key);
  const Node value = keyword ? keyword.child(Field::k_value) : arguments.at(action.position);
  if (!value || is_listed(action.missing, value.text())) return false;
  if (action.after.empty()) {
    arguments.remove(migration, keyword ? keyword : value, change);
    return true;
  }
  constexpr std::string_view kOld = "replace_device_int";
  const std::string& wanted = action.after;
  const size_t at = wanted.find(kOld);
  if (at == wanted.npos ? value.text() == wanted
                        : value.text().starts_with(wanted.substr(0, at)) &&
                              value.text().ends_with(wanted.substr(at + kOld.size())) && wanted.size() > kOld.size())
    return false;  // done before
  std::string text = wanted;
  for (size_t place = at; place != text.npos; place = text.find(kOld, place + value.text().size()))
    text.replace(place, kOld.size(), value.text());
  migration.rewriter.edits().replace(value.begin(), value.end(), text, change);
  return true;
}

/// The last name of the callee becomes `after`.
bool function(Migration& migration, const Rule& rule, Node node, size_t change) {
  const Node callee = node.child(Field::k_function);
  const Node name = callee.is(k_attribute) ? callee.child(Field::k_attribute) : callee;
  const std::string& text = rule.actions[0].after;
  if (!name.is(k_identifier) || name.text() == text) return false;
  migration.rewriter.edits().replace(name.begin(), name.end(), text, change);
  return true;
}

bool is_docstring(Node string) { return string.parent().is(k_expression_statement); }

/// Text `key` in strings becomes `after`; `position` 1: only where it is all of the string.
bool string(Migration& migration, const Rule& rule, Node root, size_t) {
  const Action& action = rule.actions[0];
  for (uint32_t i = root.index(); i < root.past(); ++i) {
    const Node part = root.tree().node(i);
    if (!part.is(k_string_content) || is_docstring(part.parent())) continue;
    const std::string_view text = part.text();
    if (action.position == 1 && text != action.key) continue;
    for (size_t at = 0; (at = text.find(action.key, at)) != text.npos; at += action.key.size()) {
      const size_t begin = part.begin() + at, end = begin + action.key.size();
      if (!migration.rewriter.take_literal({migration.script.names().file(), static_cast<uint32_t>(begin)})) continue;
      migration.rewriter.edits().replace(begin, end, action.after, migration.ledger.change_at(rule, begin, end));
    }
  }
  return false;  // the rows are their own
}

const CodeEntry kArgument("vendor-argument", argument), kFunction("vendor-function", function),
    kString("vendor-string", string);

}  // namespace
}  // namespace npu::migrate
