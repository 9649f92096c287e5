// SPDX-License-Identifier: Apache-2.0
// tf.keras.mixed_precision.experimental is gone; its names stand in the module above it, one under another name.
#include "tools/migrate/migration/code.h"

namespace npu::migrate {
namespace {

using enum Kind;

/// `a.experimental` becomes `a`; a variable that holds the module stays.
bool leave_experimental(Migration& migration, const Rule&, Node node, size_t change) {
  if (!node.is(k_attribute)) return false;
  migration.rewriter.edits().replace(node.child(Field::k_object).end(), node.end(), "", change);
  return true;
}

/// `m.set_policy` becomes `m.set_global_policy`; a name imported by itself keeps its name here.
bool rename_set_policy(Migration& migration, const Rule&, Node node, size_t change) {
  if (!node.is(k_attribute)) return false;
  const Node name = node.child(Field::k_attribute);
  migration.rewriter.edits().replace(name.begin(), name.end(), "set_global_policy", change);
  return true;
}

/// `from tensorflow.keras.mixed_precision import experimental as mp` becomes `from tensorflow.keras import
/// mixed_precision as mp`, if nothing else is imported there.
bool import_above(Migration& migration, const Rule& rule, Node name, size_t change) {
  const Node entry = name.parent().is(k_aliased_import) ? name.parent() : name, statement = entry.parent();
  if (!statement.is(k_import_from_statement) || name.field() == Field::k_module_name) return false;
  const Node module = statement.child(Field::k_module_name);
  if (statement.children(Field::k_name).size() != 1) {
    migration.ledger.note(rule, statement, "manual",
                          "import mixed_precision from tensorflow.keras on a line of its own");
    return false;
  }
  const std::string_view text = module.text();
  const std::string bound(entry == name ? name.text() : entry.child(Field::k_alias).text());
  migration.rewriter.edits().replace(module.begin(), module.end(), std::string(text.substr(0, text.rfind('.'))),
                                     change);
  migration.rewriter.edits().replace(entry.begin(), entry.end(),
                                     "mixed_precision" + (bound == "mixed_precision" ? "" : " as " + bound), change);
  return true;
}

/// `import set_policy` becomes `import set_global_policy as set_policy`.
bool import_set_policy(Migration& migration, const Rule&, Node name, size_t change) {
  const bool aliased = name.parent().is(k_aliased_import);
  migration.rewriter.edits().replace(name.begin(), name.end(),
                                     aliased ? "set_global_policy" : "set_global_policy as set_policy", change);
  return true;
}

const CodeEntry leave("leave_experimental", leave_experimental), rename("rename_set_policy", rename_set_policy),
    above("import_above", import_above), policy("import_set_policy", import_set_policy);

}  // namespace
}  // namespace npu::migrate
