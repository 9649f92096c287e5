// SPDX-License-Identifier: Apache-2.0
// Imports of Horovod go when nothing in the file needs them any more, and only then.
#include <fmt/format.h>

#include "tools/migrate/migration/code.h"
#include "tools/migrate/migration/import_use.h"

namespace npu::migrate {
namespace {

using enum Kind;

/// Met for the module of an import.
bool horovod_import(Migration& migration, const Rule& rule, Node name, size_t change) {
  const Node entry = name.parent().is(k_aliased_import) ? name.parent() : name, statement = entry.parent();
  const bool from = statement.is(k_import_from_statement);
  if (from && name.field() != Field::k_module_name) return false;  // met once a statement
  const std::vector<Node> names = statement.children(Field::k_name);
  const std::vector<Node> gone = from ? names : std::vector<Node>{entry};
  const bool star = from && names.empty();
  for (const Node each : gone)
    if (const Node use = first_use_left(migration, each)) {
      const Node whole = use.parent().is(k_attribute) ? use.parent() : use;
      migration.ledger.note(
          rule, statement, "manual",
          fmt::format("kept: {} in line {} has no counterpart; when it is written anew, drop the import", whole.text(),
                      use.line()));
      return false;
    }
  if (star) return false;
  if (names.size() > 1 && !from)
    drop_import_name(migration, entry, change);
  else
    migration.rewriter.edits().replace(statement.begin(), statement.end(), "None", change);
  return true;
}

const CodeEntry entry("horovod_import", horovod_import);

}  // namespace
}  // namespace npu::migrate
