// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/migrated_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/migrate/migration/head.h"
#include "tools/migrate/migration/literal.h"
#include "tools/migrate/migration/matcher.h"
#include "tools/migrate/rule/pending.h"

namespace npu::migrate {
namespace {

using enum Kind;

/// Makes the edits that other files asked for.
void take_remote(Migration& migration, const std::vector<Remote>& remote) {
  for (const Remote& asked : remote)
    put_literal(migration, asked.place, asked.numbered, asked.text, migration.ledger.change_for(asked));
}

/// Whether the new text parses if the old one did; else the file stays as it is.
bool still_parses(Migration& migration, FileResult& result) {
  if (!result.changed()) return true;
  const Source& source = migration.script.source();
  const Source after(source.path(), result.after);
  result.lines = migration.rewriter.edits().lines(source, after);
  const size_t line = migration.script.tree().error_line() == 0 ? Tree(after).error_line() : 0;
  if (line == 0) return true;
  result.failure =
      fmt::format("{}: the migrated text would not parse at its line {}; the file is left as it is; please report this",
                  source.path(), line);
  result.after = result.before;
  result.lines.clear();
  migration.ledger.take_back_changes();
  return false;
}

/// What the face asks of the program as a whole.
void tell_of_program(const Migration& migration, FileResult& result) {
  const Tree& tree = migration.script.tree();
  const auto uses = [&](std::string_view name) {
    return std::ranges::any_of(migration.ledger.uses(), [&](const Use& use) { return use.name.ends_with(name); });
  };
  for (const Edit& edit : migration.rewriter.edits().list())
    for (std::string& name : pending_names().in(edit.text)) result.waits_for.insert(std::move(name));
  for (uint32_t i = 0; i < tree.size(); ++i)  // migrated before
    if (tree.node(i).is(k_import_statement) || tree.node(i).is(k_import_from_statement))
      for (std::string& name : pending_names().in(tree.node(i).text())) result.waits_for.insert(std::move(name));
  const ProgramMap::Part& part = migration.script.part();
  const Program& program = migration.script.program();
  result.begins = migration.script.is_entry();
  result.opens = migration.opens();
  result.trains_unopened = program.trains && (program.tensorflow || program.upon) && !program.torch &&
                           migration.script.options().whole && !result.opens && (part.begins || !part.reached);
  result.wraps = migration.rewriter.imports().contains("from torch.nn.parallel import DistributedDataParallel") ||
                 uses(".DistributedDataParallel");
}

}  // namespace

FileResult migrated_file(Migration& migration, const RuleIndex& rules, const std::vector<Remote>& remote) {
  Edits& edits = migration.rewriter.edits();
  Matcher matcher(migration, rules);
  matcher.meet_file(Rule::On::kFile);
  matcher.meet_places();
  take_remote(migration, remote);
  const std::vector<size_t> dropped = edits.settle();
  if (!edits.empty() || migration.script.is_entry()) matcher.meet_file(Rule::On::kTouched);
  migration.rewriter.forget_needs_of(dropped);
  put_head(migration);
  edits.settle();
  FileResult result;
  result.path = migration.script.path();
  result.before = migration.script.source().bytes();
  result.after = edits.applied(migration.script.source());
  result.frameworks = migration.script.frameworks();
  if (still_parses(migration, result)) {
    tell_of_program(migration, result);
    migration.ledger.close(edits);
  }
  migration.ledger.give_to(result);
  return result;
}

}  // namespace npu::migrate
