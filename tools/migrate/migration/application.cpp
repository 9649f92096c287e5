// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/application.h"

#include <fmt/format.h>

#include "tools/migrate/migration/action.h"

namespace npu::migrate {
namespace {

using enum Kind;

/// Does the steps; takes all back where none of them applies.
void make(Migration& migration, const Rule& rule, Node node) {
  Rewriter& rewriter = migration.rewriter;
  Ledger& ledger = migration.ledger;
  const size_t row = ledger.change(rule, node);
  bool done = rule.actions.empty();
  for (const Action& action : rule.actions) done = act(migration, rule, action, node, row) || done;
  std::string taken;
  for (const std::string& line : rule.imports)
    if (done && taken.empty()) taken = migration.script.taken_name(line, node);
  if (done && taken.empty()) {
    for (const std::string& line : rule.imports) rewriter.need_import(line, row);
    for (const std::string& line : rule.lines) rewriter.need_line(line, row);
    return;
  }
  rewriter.drop(row);
  if (ledger.rows().size() == row + 1) ledger.drop_last();  // else what the rule's code noted stays
  if (!taken.empty())
    ledger.note(
        rule, node, "manual",
        fmt::format("left as it is: the change needs `{}`, and the file gives the name `{}` to something else; rename "
                    "that, then migrate again",
                    rule.imports[0], taken));
}

/// Where nothing opens the NPU: what the rule would do is taken back, and listed if it is anything.
void tell_if_open(Migration& migration, const Rule& rule, Node node) {
  Rewriter& rewriter = migration.rewriter;
  Ledger& ledger = migration.ledger;
  const Rewriter::Spoken spoken = rewriter.spoken();
  const Ledger::Mark before = ledger.mark();
  make(migration, rule, node);
  const bool any = ledger.mark() != before;
  for (size_t row = before.rows; row < ledger.rows().size(); ++row) rewriter.drop(row);
  ledger.back_to(before);
  rewriter.back_to(spoken);
  if (any)
    ledger.note(
        rule, node, "manual",
        fmt::format("left as it is: nothing that opens the NPU is seen to run this file; name the script that Python "
                    "is started with by -m, or open the NPU here (npu.open().as_default()): {}",
                    rule.what));
}

}  // namespace

void apply(Migration& migration, const Rule& rule, const Meeting& meeting) {
  const auto& [node, sure, values] = meeting;
  if (!sure && rule.unsure == Rule::Unsure::kSkip) return;
  if (migration.rewriter.edits().replaced(node.begin(), node.end())) return;  // it goes with what stands around it
  if (!rule.report.empty()) {
    const bool part = rule.on == Rule::On::kName && node.parent().is(k_attribute) && node.field() == Field::k_object;
    if (rule.once && migration.ledger.tells_of(rule)) return;
    if (sure && !part) migration.ledger.note(rule, node, rule.report, filled(rule.message, node));
    return;
  }
  if (!sure && rule.unsure == Rule::Unsure::kList) {
    migration.ledger.note(
        rule, node, "unsure",
        fmt::format("left as it is: may be {}; if it is what the rule means: {}", values->spelled(), rule.what));
    return;
  }
  if (rule.needs_open && !migration.runs_open())
    tell_if_open(migration, rule, node);
  else
    make(migration, rule, node);
}

}  // namespace npu::migrate
