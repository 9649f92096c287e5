// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/import_use.h"

#include <algorithm>
#include <vector>

namespace npu::migrate {
namespace {

using enum Kind;

bool inside(Node node, Node outer) { return outer.index() <= node.index() && node.index() < outer.past(); }

bool in_import(Node node) {
  for (; node; node = node.parent())
    if (node.is(k_import_statement) || node.is(k_import_from_statement)) return true;
  return false;
}

}  // namespace

std::string_view name_bound_by(Node entry) {
  if (entry.is(k_aliased_import)) return entry.child(Field::k_alias).text();
  return entry.text().substr(0, entry.text().find('.'));
}

Node first_use_left(Migration& migration, Node entry) {
  const Tree& tree = migration.script.tree();
  const std::string_view bound = name_bound_by(entry);
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

void drop_import_name(Migration& migration, Node entry, size_t change) {
  const std::vector<Node> parts = entry.parent().children();
  const auto at = std::ranges::find(parts, entry);
  const bool last = at + 1 == parts.end();
  const size_t begin = last ? (at - 1)->begin() : entry.begin();
  const size_t end = last ? entry.end() : (at + 2)->begin();
  migration.rewriter.edits().replace(begin, end, "", change);
}

}  // namespace npu::migrate
