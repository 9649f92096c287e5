// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/head.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>

#include "tools/migrate/names/known.h"
#include "tools/migrate/text/import_line.h"
#include "tools/migrate/text/words.h"

namespace npu::migrate {
namespace {

using enum Kind;

bool is_text_statement(Node statement) {
  if (!statement.is(k_expression_statement) || statement.named().size() != 1) return false;
  return statement.named()[0].is(k_string) || statement.named()[0].is(k_concatenated_string);
}

bool is_import(Node statement) { return statement.is(k_import_statement) || statement.is(k_import_from_statement); }

/// Whether a statement at the head sets variables of the environment: `os.environ["X"] = …`, `environ.setdefault(…)`.
bool sets_environment(Script& script, Node statement) {
  if (statement.is(k_function_definition) || statement.is(k_class_definition) || is_import(statement)) return false;
  for (uint32_t i = statement.index(); i < statement.past(); ++i) {
    const Node node = script.tree().node(i);
    if (node.is(k_subscript) && node.field() == Field::k_left &&
        script.names().sure_name(node.child(Field::k_value)) == "os.environ")
      return true;
    if (!node.is(k_call)) continue;
    const std::string callee = script.names().sure_name(node.child(Field::k_function));
    if (callee == "os.environ.setdefault" || callee == "os.environ.update" || callee == "os.environ.pop" ||
        callee == "os.putenv")
      return true;
  }
  return false;
}

/// Whether an import may load a framework, which reads its variables then: its own modules and the project's.
bool may_load_framework(Script& script, Node statement) {
  const auto loads = [&](Node module) {
    const std::string_view name = module.text(), root = name.substr(0, name.find('.'));
    return known_names().is_root(root) || root.starts_with("tensorflow") ||
           script.names().project().imported(script.names().path(), name, 0).is_ours();
  };
  if (const Node module = statement.child(Field::k_module_name)) return module.is(k_relative_import) || loads(module);
  return std::ranges::any_of(statement.children(Field::k_name), [&](Node each) {
    return loads(each.is(k_aliased_import) ? each.child(Field::k_name) : each);
  });
}

/// The first statement that new imports may stand before: after the docstring and what __future__ gives, at the first
/// import if one of the first statements is one; behind settings of the environment that no framework has read yet.
Node head_place(Script& script) {
  constexpr size_t kLookedAt = 5;
  const std::vector<Node> statements = script.tree().root().named();
  size_t at = !statements.empty() && is_text_statement(statements[0]) ? 1 : 0;
  for (size_t i = at; i < statements.size(); ++i)
    if (statements[i].is(k_future_import_statement)) at = i + 1;
  for (size_t i = at; i < statements.size(); ++i) {
    if (is_import(statements[i]) && may_load_framework(script, statements[i])) break;
    if (sets_environment(script, statements[i])) at = i + 1;
  }
  for (size_t i = at; i < statements.size() && i < at + kLookedAt; ++i)
    if (is_import(statements[i])) return statements[i];
  return at < statements.size() ? statements[at] : Node();
}

/// Of imports inside blocks, those that what was changed needs a line behind: the first where it is passed in any case,
/// and in functions only if something was changed there.
std::vector<Node> needed_behind(const Ledger& ledger, const std::vector<Node>& imports,
                                const std::vector<size_t>& changes) {
  std::vector<Node> first, out;
  for (const Node node : imports)
    if (std::ranges::none_of(first, [&](Node before) {
          return before.parent().begin() <= node.begin() && node.end() <= before.parent().end();
        }))
      first.push_back(node);
  std::ranges::copy_if(first, std::back_inserter(out), [&](Node node) {
    const Node function = SymbolTable::function_around(node);
    return !function || std::ranges::any_of(changes, [&](size_t change) {
      if (change >= ledger.rows().size()) return true;
      const size_t at = ledger.rows()[change].begin;
      return function.begin() <= at && at < function.end();
    });
  });
  return out.empty() ? first : out;
}

/// Puts `line` behind the first `import framework`, or import out of it; where all of them stand inside blocks, behind
/// each of those that needs it. Nothing where there is none, or where the file imports this module already.
void put_after_import(Migration& migration, const Rule& asking, const std::string& line, std::string_view framework,
                      const std::vector<size_t>& changes) {
  Script& script = migration.script;
  Ledger& ledger = migration.ledger;
  Edits& edits = migration.rewriter.edits();
  if (script.imports(line.substr(line.rfind(' ') + 1))) return;
  std::vector<Node> outer, inner;
  bool found_plain = false;
  for (uint32_t i = 0; i < script.tree().size(); ++i) {
    const Node node = script.tree().node(i);
    if (!node.is(k_import_statement) && !node.is(k_import_from_statement)) continue;
    bool of_it = false, plain = false;
    for (const Node each : node.children(node.is(k_import_statement) ? Field::k_name : Field::k_module_name)) {
      const std::string_view name = (each.is(k_aliased_import) ? each.child(Field::k_name) : each).text();
      of_it = of_it || name.substr(0, name.find('.')) == framework;
      plain = plain || (name == framework && node.is(k_import_statement));
    }
    if (!of_it) continue;
    if (!node.parent().is(k_module))
      inner.push_back(node);
    else if (outer.empty() || (plain && !found_plain))
      outer = {node}, found_plain = plain;
  }
  const std::string& bytes = script.source().bytes();
  for (const Node node : outer.empty() ? needed_behind(ledger, inner, changes) : outer) {
    const size_t begin = bytes.find_last_of("\r\n", node.begin());
    const size_t line_begin = begin == bytes.npos || node.begin() == 0 ? 0 : begin + 1;
    const size_t rest = bytes.find_first_not_of(" \t\f", node.end());
    const bool ends = rest == bytes.npos || bytes[rest] == '#' || bytes[rest] == '\r' || bytes[rest] == '\n';
    if (!ends && bytes[rest] != ';') continue;  // no end of a statement: no Python
    const bool alone = ends && bytes.find_first_not_of(" \t", line_begin) == node.begin();
    Change& made = ledger.row(ledger.change(asking, node, Change::Kind::kInsert));
    const size_t number = ledger.rows().size() - 1;
    made.before = "";
    made.after = line;
    made.message = fmt::format("insert {}", line);
    if (!alone) {  // a; b
      made.kind = Change::Kind::kModify;
      edits.append(node.end(), "; " + line, number);
      continue;
    }
    const std::string indent = bytes.substr(line_begin, node.begin() - line_begin);
    const size_t end = bytes.find_first_of("\r\n", node.end());
    const bool last = end == bytes.npos;
    const size_t next = last ? bytes.size() : end + (bytes.compare(end, 2, "\r\n") == 0 ? 2 : 1);
    const std::string newline(script.source().newline());
    edits.append(next, last ? newline + indent + line : indent + line + newline, number);
  }
}

}  // namespace

void put_head(Migration& migration) {
  Script& script = migration.script;
  Ledger& ledger = migration.ledger;
  Rewriter& rewriter = migration.rewriter;
  const Node place = head_place(script);
  const size_t at = place ? place.begin() : script.source().bytes().size();
  const std::string newline(script.source().newline());
  bool first = true;
  const auto wanted_below = [&](const std::string& bound) {
    return std::ranges::any_of(rewriter.lines(), [&](const auto& each) {
      return !bound.empty() && each.first.starts_with(bound + ".") && !script.has_import(each.first);
    });
  };
  const auto bound_before = [&](const std::string& line) {
    const ImportLine wanted = parsed_import(line);
    return std::ranges::any_of(script.names().table().all(wanted.bound, script.tree().root()),
                               [&](const Binding* binding) { return binding->node.begin() < at; });
  };
  for (const auto* wanted : {&rewriter.imports(), &rewriter.lines()})
    for (const auto& [line, changes] : *wanted) {
      Rule asking;
      asking.id = changes[0] < ledger.rows().size() ? ledger.rows()[changes[0]].rule : "head";
      if (const std::string_view framework = known_names().line_after(line); !framework.empty()) {
        put_after_import(migration, asking, line, framework, changes);
        continue;
      }
      // The lines below use what is imported: an import further down is too late for them.
      if (script.has_import(line) && !(wanted_below(parsed_import(line).bound) && !bound_before(line))) continue;
      const bool open = first && !place && at > 0 && !script.source().bytes().ends_with('\n') &&
                        !script.source().bytes().ends_with('\r');
      first = false;
      const size_t row = ledger.change(asking, place ? place : script.tree().root(), Change::Kind::kInsert);
      Change& made = ledger.row(row);
      made.line = made.last_line = place ? place.line() : script.source().line_count();
      made.before = "";
      made.after = one_line(line);
      made.message = fmt::format("insert {}", line);
      rewriter.edits().insert(at, (open ? newline : "") + line + newline, row);
    }
}

}  // namespace npu::migrate
