// SPDX-License-Identifier: Apache-2.0
// Imports of Horovod go when nothing in the file needs them any more, and only then.
#include <fmt/format.h>

#include <algorithm>

#include "tools/migrate/migration/code.h"

namespace npu::migrate {
namespace {

using enum Kind;

bool inside(Node node, Node outer) { return outer.index() <= node.index() && node.index() < outer.past(); }

bool in_import(Node node) {
  for (; node; node = node.parent())
    if (node.is(k_import_statement) || node.is(k_import_from_statement)) return true;
  return false;
}

/// The first place that reads what `entry` (a name of an import) binds and that no other rule replaced; or none.
Node first_use_left(Migration& migration, Node entry, std::string_view bound) {
  const Tree& tree = migration.script.tree();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const Node node = tree.node(i);
    if (!node.is(k_identifier) || node.text() != bound || in_import(node)) continue;
    const Node parent = node.parent();
    if ((parent.is(k_attribute) && node.field() == Field::k_attribute) ||
        (parent.is(k_keyword_argument) && node.field() == Field::k_name))
      continue;
    const auto bindings = migration.script.names().table().reaching(bound, node);
    const auto by_entry = [&](const Binding* each) { return inside(each->node, entry) || inside(entry, each->node); };
    if (std::ranges::any_of(bindings, by_entry) && !migration.rewriter.edits().replaced(node.begin(), node.end()))
      return node;
  }
  return {};
}

std::string_view bound_by(Node entry) {
  if (entry.is(k_aliased_import)) return entry.child(Field::k_alias).text();
  return entry.text().substr(0, entry.text().find('.'));
}

/// The name goes from its import, with a comma.
void drop_name(Migration& migration, Node entry, size_t change) {
  const std::vector<Node> parts = entry.parent().children();
  const auto at = std::ranges::find(parts, entry);
  const bool last = at + 1 == parts.end();
  const size_t begin = last ? (at - 1)->begin() : entry.begin();
  const size_t end = last ? entry.end() : (at + 2)->begin();
  migration.rewriter.edits().replace(begin, end, "", change);
}

/// Met for the module of an import.
bool horovod_import(Migration& migration, const Rule& rule, Node name, size_t change) {
  const Node entry = name.parent().is(k_aliased_import) ? name.parent() : name, statement = entry.parent();
  const bool from = statement.is(k_import_from_statement);
  if (from && name.field() != Field::k_module_name) return false;  // met once a statement
  const std::vector<Node> names = statement.children(Field::k_name);
  const std::vector<Node> gone = from ? names : std::vector<Node>{entry};
  const bool star = from && names.empty();
  for (const Node each : gone)
    if (const Node use = first_use_left(migration, each, bound_by(each))) {
      const Node whole = use.parent().is(k_attribute) ? use.parent() : use;
      migration.ledger.note(
          rule, statement, "manual",
          fmt::format("kept: {} in line {} has no counterpart; when it is written anew, drop the import", whole.text(),
                      use.line()));
      return false;
    }
  if (star) return false;
  if (names.size() > 1 && !from)
    drop_name(migration, entry, change);
  else
    migration.rewriter.edits().replace(statement.begin(), statement.end(), "None", change);
  return true;
}

const CodeEntry entry("horovod_import", horovod_import);

}  // namespace
}  // namespace npu::migrate
