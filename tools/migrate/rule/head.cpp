// SPDX-License-Identifier: Apache-2.0
// The head of a file: where new imports go, which it has already, and whether the program begins in it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>

#include "tools/migrate/names/known.h"
#include "tools/migrate/names/program_reader.h"
#include "tools/migrate/rule/migration.h"
#include "tools/migrate/rule/words.h"

namespace npu::migrate {
namespace {

using enum Kind;

/// What an import line binds, and to what: "import a.b as c" gives c and "a.b", "from m import n" gives n and "m.n".
struct Import {
  std::string bound, dotted;
};

Import parsed(std::string_view line) {
  const auto word = [&line] {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string out(line.substr(0, line.find(' ')));
    line.remove_prefix(out.size());
    return out;
  };
  const bool from = word() == "from";
  Import out;
  out.dotted = word();
  if (from) {
    word();  // import
    out.bound = word();
    out.dotted += "." + out.bound;
  } else {
    out.bound = out.dotted.substr(0, out.dotted.find('.'));
  }
  if (word() == "as")
    out.bound = word();
  else if (!from)
    out.dotted = out.bound;
  if (out.bound == "*") out.bound = "";
  return out;
}

bool is_text_statement(Node statement) {
  if (!statement.is(k_expression_statement) || statement.named().size() != 1) return false;
  return statement.named()[0].is(k_string) || statement.named()[0].is(k_concatenated_string);
}

bool is_import(Node statement) { return statement.is(k_import_statement) || statement.is(k_import_from_statement); }

}  // namespace

bool Migration::has_import(const std::string& line) {
  if (const Import wanted = parsed(line);
      !wanted.bound.empty() && (line.starts_with("import ") || line.starts_with("from ")))
    for (const Binding* binding : names_.table().all(wanted.bound, tree_.root()))
      if (binding->how == Binding::How::kImport && binding->level == 0 && binding->dotted == wanted.dotted) return true;
  for (const Node statement : tree_.root().named()) {
    if (squeezed(statement.text()) == squeezed(line)) return true;
    if (statement.is(k_expression_statement) || statement.is(k_import_statement)) continue;
    for (const Node inner : statement.named())  // inside try: or if:
      if (inner.is(k_block))
        for (const Node each : inner.named())
          if (squeezed(each.text()) == squeezed(line)) return true;
  }
  return false;
}

std::string Migration::taken_name(const std::string& line, Node node) {
  const Import wanted = parsed(line);
  if (wanted.bound.empty()) return "";
  for (const Binding* binding : names_.table().reaching(wanted.bound, node))
    if (binding->how != Binding::How::kImport || binding->level != 0 || binding->dotted != wanted.dotted)
      return wanted.bound;
  return "";
}

Node Migration::main_guard() const { return migrate::main_guard(tree_); }

bool Migration::is_entry() const {
  // A notebook begins by itself, whatever else is there; but no process of several does.
  if (result_.path.ends_with(".ipynb") && !options_.features.contains("distributed")) return true;
  return options_.main.empty() ? options_.alone || main_guard() : result_.path == options_.main;
}

/// Whether a statement at the head sets variables of the environment: `os.environ["X"] = …`, `environ.setdefault(…)`.
bool Migration::sets_environment(Node statement) {
  if (statement.is(k_function_definition) || statement.is(k_class_definition) || is_import(statement)) return false;
  for (uint32_t i = statement.index(); i < statement.past(); ++i) {
    const Node node = tree_.node(i);
    if (node.is(k_subscript) && node.field() == Field::k_left &&
        names_.sure_name(node.child(Field::k_value)) == "os.environ")
      return true;
    if (!node.is(k_call)) continue;
    const std::string callee = names_.sure_name(node.child(Field::k_function));
    if (callee == "os.environ.setdefault" || callee == "os.environ.update" || callee == "os.environ.pop" ||
        callee == "os.putenv")
      return true;
  }
  return false;
}

/// Whether an import may load a framework, which reads its variables then: its own modules and the project's.
bool Migration::may_load_framework(Node statement) const {
  const auto loads = [&](Node module) {
    const std::string_view name = module.text(), root = name.substr(0, name.find('.'));
    return known_names().is_root(root) || root.starts_with("tensorflow") ||
           names_.project().imported(names_.path(), name, 0).is_ours();
  };
  if (const Node module = statement.child(Field::k_module_name)) return module.is(k_relative_import) || loads(module);
  return std::ranges::any_of(statement.children(Field::k_name), [&](Node each) {
    return loads(each.is(k_aliased_import) ? each.child(Field::k_name) : each);
  });
}

bool Migration::concerns(std::string_view framework) const {
  if (imports(framework) || framework != "torch") return imports(framework);
  const bool of_processes = options_.features.contains("distributed") || options_.features.contains("specify-device");
  // Where no file was named, a main guard below TensorFlow begins a program of TensorFlow.
  return of_processes && is_entry() && !(options_.main.empty() && imports("tensorflow"));
}

/// The first statement that new imports may stand before: after the docstring and what __future__ gives, at the first
/// import if one of the first statements is one; behind settings of the environment that no framework has read yet.
Node Migration::head_place() {
  constexpr size_t kLookedAt = 5;
  const std::vector<Node> statements = tree_.root().named();
  size_t at = !statements.empty() && is_text_statement(statements[0]) ? 1 : 0;
  for (size_t i = at; i < statements.size(); ++i)
    if (statements[i].is(k_future_import_statement)) at = i + 1;
  for (size_t i = at; i < statements.size(); ++i) {
    if (is_import(statements[i]) && may_load_framework(statements[i])) break;
    if (sets_environment(statements[i])) at = i + 1;
  }
  for (size_t i = at; i < statements.size() && i < at + kLookedAt; ++i)
    if (is_import(statements[i])) return statements[i];
  return at < statements.size() ? statements[at] : Node();
}

void Migration::put_head() {
  const Node place = head_place();
  const size_t at = place ? place.begin() : source().bytes().size();
  const std::string newline(source().newline());
  bool first = true;
  const auto wanted_below = [&](const std::string& bound) {
    return std::ranges::any_of(lines_, [&](const auto& each) {
      return !bound.empty() && each.first.starts_with(bound + ".") && !has_import(each.first);
    });
  };
  const auto bound_before = [&](const std::string& line) {
    const Import wanted = parsed(line);
    return std::ranges::any_of(names_.table().all(wanted.bound, tree_.root()),
                               [&](const Binding* binding) { return binding->node.begin() < at; });
  };
  for (const auto* wanted : {&imports_, &lines_})
    for (const auto& [line, changes] : *wanted) {
      Rule asking;
      asking.id = changes[0] < result_.changes.size() ? result_.changes[changes[0]].rule : "head";
      if (const std::string_view framework = known_names().line_after(line); !framework.empty()) {
        put_after_import(asking, line, framework, changes);
        continue;
      }
      // The lines below use what is imported: an import further down is too late for them.
      if (has_import(line) && !(wanted_below(parsed(line).bound) && !bound_before(line))) continue;
      const bool open =
          first && !place && at > 0 && !source().bytes().ends_with('\n') && !source().bytes().ends_with('\r');
      first = false;
      const size_t row = change(asking, place ? place : tree_.root(), Change::Kind::kInsert);
      Change& made = result_.changes[row];
      made.line = made.last_line = place ? place.line() : source().line_count();
      made.before = "";
      made.after = one_line(line);
      made.message = fmt::format("insert {}", line);
      edits_.insert(at, (open ? newline : "") + line + newline, row);
    }
}

/// Of imports inside blocks, those that what was changed needs a line behind: the first where it is passed in any case,
/// and in functions only if something was changed there.
std::vector<Node> Migration::needed_behind(const std::vector<Node>& imports, const std::vector<size_t>& changes) const {
  std::vector<Node> first, out;
  for (const Node node : imports)
    if (std::ranges::none_of(first, [&](Node before) {
          return before.parent().begin() <= node.begin() && node.end() <= before.parent().end();
        }))
      first.push_back(node);
  std::ranges::copy_if(first, std::back_inserter(out), [&](Node node) {
    const Node function = SymbolTable::function_around(node);
    return !function || std::ranges::any_of(changes, [&](size_t change) {
      if (change >= result_.changes.size()) return true;
      const size_t at = result_.changes[change].begin;
      return function.begin() <= at && at < function.end();
    });
  });
  return out.empty() ? first : out;
}

/// Puts `line` behind the first `import framework`, or import out of it; where all of them stand inside blocks, behind
/// each of those that needs it. Nothing where there is none, or where the file imports this module already.
void Migration::put_after_import(const Rule& asking, const std::string& line, std::string_view framework,
                                 const std::vector<size_t>& changes) {
  if (imports(line.substr(line.rfind(' ') + 1))) return;
  std::vector<Node> outer, inner;
  bool found_plain = false;
  for (uint32_t i = 0; i < tree_.size(); ++i) {
    const Node node = tree_.node(i);
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
  const std::string& bytes = source().bytes();
  for (const Node node : outer.empty() ? needed_behind(inner, changes) : outer) {
    const size_t begin = bytes.find_last_of("\r\n", node.begin());
    const size_t line_begin = begin == bytes.npos || node.begin() == 0 ? 0 : begin + 1;
    const size_t rest = bytes.find_first_not_of(" \t\f", node.end());
    const bool ends = rest == bytes.npos || bytes[rest] == '#' || bytes[rest] == '\r' || bytes[rest] == '\n';
    if (!ends && bytes[rest] != ';') continue;  // no end of a statement: no Python
    const bool alone = ends && bytes.find_first_not_of(" \t", line_begin) == node.begin();
    Change& made = row(change(asking, node, Change::Kind::kInsert));
    const size_t number = result_.changes.size() - 1;
    made.before = "";
    made.after = line;
    made.message = fmt::format("insert {}", line);
    if (!alone) {  // a; b
      made.kind = Change::Kind::kModify;
      edits_.append(node.end(), "; " + line, number);
      continue;
    }
    const std::string indent = bytes.substr(line_begin, node.begin() - line_begin);
    const size_t end = bytes.find_first_of("\r\n", node.end());
    const bool last = end == bytes.npos;
    const size_t next = last ? bytes.size() : end + (bytes.compare(end, 2, "\r\n") == 0 ? 2 : 1);
    const std::string newline(source().newline());
    edits_.append(next, last ? newline + indent + line : indent + line + newline, number);
  }
}

}  // namespace npu::migrate
