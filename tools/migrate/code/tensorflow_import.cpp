// SPDX-License-Identifier: Apache-2.0
// What scripts of TensorFlow 1 import has other names in TensorFlow 2.15: all of it stands below tensorflow.compat.v1.
#include <algorithm>
#include <array>

#include "tools/migrate/migration/code.h"
#include "tools/migrate/migration/statement.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr std::string_view kRoot = "tensorflow", kOfOld = "tensorflow.compat.v1", kDisable = "disable_v2_behavior";

/// Parts of the package that compat.v1 has not: what is private stands where it stood, what is gone is listed.
constexpr auto kElsewhere = std::to_array<std::string_view>(
    {"compat", "python", "core", "contrib", "examples", "tools", "lite", "tsl", "_api", "models"});

bool is_elsewhere(std::string_view part) {
  return std::ranges::find(kElsewhere, part.substr(0, part.find('.'))) != kElsewhere.end();
}

Node statement_around(Node node) {
  while (node && !node.is(k_import_statement) && !node.is(k_import_from_statement)) node = node.parent();
  return node;
}

/// Whether this module, or the package itself, has a place below compat.v1.
bool has_place(std::string_view module) {
  if (module == kRoot) return true;
  return module.starts_with("tensorflow.") && !is_elsewhere(module.substr(kRoot.size() + 1));
}

/// What an entry of an import binds.
std::string_view bound_by(Node entry) {
  return entry.is(k_aliased_import) ? entry.child(Field::k_alias).text() : entry.text();
}

/// The name of TensorFlow itself after `import tensorflow [as tf]`; "" of others.
std::string_view name_of_package(Node statement) {
  if (!statement.is(k_import_statement)) return "";
  for (const Node each : statement.children(Field::k_name))
    if ((each.is(k_aliased_import) ? each.child(Field::k_name) : each).text() == kRoot) return bound_by(each);
  return "";
}

bool gets_other_name(Node statement) {
  if (!statement.is(k_import_from_statement)) return !name_of_package(statement).empty();
  const Node module = statement.child(Field::k_module_name);
  return module.is(k_dotted_name) && has_place(module.text());
}

/// The import behind which the behaviour of TensorFlow 2 is switched off: the first of the package itself, else the
/// first one.
Node switching_import(const Tree& tree) {
  Node first;
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const Node node = tree.node(i);
    if (!node.is(k_import_statement) && !node.is(k_import_from_statement)) continue;
    if (!name_of_package(node).empty()) return node;
    if (!first && gets_other_name(node)) first = node;
  }
  return first;
}

void switch_off(Migration& migration, const Rule& rule, Node statement, size_t change) {
  const std::string& bytes = migration.script.source().bytes();
  if (bytes.find(kDisable) != bytes.npos || statement != switching_import(migration.script.tree())) return;
  const std::string package(name_of_package(statement)), call = std::string(kDisable) + "()";
  const size_t line = migration.script.source().line_begin(statement.line());
  const size_t rest = bytes.find_first_not_of(" \t\f", statement.end());
  const bool alone = bytes.find_first_not_of(" \t\f", line) == statement.begin() &&
                     (rest == bytes.npos || bytes[rest] == '\r' || bytes[rest] == '\n' || bytes[rest] == '#');
  std::vector<std::string> lines = {package + "." + call};
  if (package.empty()) lines = {"from tensorflow.compat.v1 import " + std::string(kDisable), call};
  if (alone) {
    put_behind(migration, rule, statement, lines, "TensorFlow 2's behaviour is switched off");
    return;
  }
  for (const std::string& each : lines) migration.rewriter.edits().append(statement.end(), "; " + each, change);
}

/// from tensorflow import nn, contrib: what has no place below compat.v1 is to be imported by itself.
bool is_mixed(Node statement) {
  if (statement.child(Field::k_module_name).text() != kRoot) return false;
  return std::ranges::any_of(statement.children(Field::k_name), [](Node each) {
    return is_elsewhere((each.is(k_aliased_import) ? each.child(Field::k_name) : each).text());
  });
}

/// import tensorflow as tf becomes import tensorflow.compat.v1 as tf.
bool v1_import(Migration& migration, const Rule& rule, Node name, size_t change) {
  const Node statement = statement_around(name);
  if (!statement) return false;
  const bool from = statement.is(k_import_from_statement);
  if ((from && name.field() != Field::k_module_name) || !has_place(name.text())) return false;
  if (from && is_mixed(statement)) {
    if (statement.children(Field::k_name).size() > 1)
      migration.ledger.note(rule, statement, "manual", "import on a line of its own what tensorflow.compat.v1 has");
    return false;
  }
  const bool aliased = name.parent().is(k_aliased_import);
  if (!from && !aliased && name.text() != kRoot) {
    migration.ledger.note(rule, statement, "manual",
                          "import it from tensorflow.compat.v1, as a name of its own: this binds TensorFlow 2");
    return false;
  }
  const std::string alias = from || aliased ? "" : " as tensorflow";
  migration.rewriter.edits().replace(name.begin(), name.begin() + kRoot.size(), std::string(kOfOld) + alias, change);
  switch_off(migration, rule, statement, change);
  return true;
}

const CodeEntry import("v1_import", v1_import);

}  // namespace
}  // namespace npu::migrate
