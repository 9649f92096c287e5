// SPDX-License-Identifier: Apache-2.0
// Names of tf.contrib, and private ones, that have a place of the same meaning today (rules/moved.tsv). Where a name is
// an attribute (`tf.contrib.rnn.GRUCell`), its use is rewritten; where an import binds it, the import is. An import
// whose names nobody uses any more goes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "tools/migrate/migration/action.h"
#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"
#include "tools/migrate/migration/import_use.h"
#include "tools/migrate/migration/statement.h"
#include "tools/migrate/rule/moved_name.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr std::string_view kWhole = "tensorflow", kBelow = "tensorflow.compat.v1";

/// The name as the table has it: contrib stood below compat.v1 as well.
std::string as_in_table(std::string name) {
  if (name.starts_with(std::string(kBelow) + ".contrib")) name.replace(0, kBelow.size(), kWhole);
  return name;
}

bool is_in(const Migration& migration, const char* feature) {
  return migration.script.options().features.contains(feature);
}

/// The argument of the call of `node` that the new place does not take; "" where it takes all.
std::string not_taken(Node node, const MovedName& moved) {
  const Node call = node.parent();
  if (!call.is(k_call) || node.field() != Field::k_function) return "";
  const Arguments arguments(call);
  std::istringstream words(moved.without);
  for (std::string word; words >> word;)
    if (word == "()" ? arguments.at(0) : arguments.keyword(word))
      return word == "()" ? "arguments without a name" : word;
  return "";
}

/// Lists once a file what has to be installed for the new names.
void tell_of_package(Migration& migration, const Rule& rule, Node node, std::string_view module) {
  static constexpr auto kPackages = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"tf_slim", "pip install tf-slim"}, {"tensor2tensor", "pip install --no-deps tensor2tensor six"}});
  const std::string_view package = module.substr(0, module.find('.'));
  for (const auto& [name, command] : kPackages) {
    if (name != package) continue;
    const std::string message = fmt::format("`{}` is a package of its own: {}", name, command);
    const auto same = [&](const Change& row) { return row.message == message; };
    if (std::ranges::none_of(migration.ledger.rows(), same)) migration.ledger.note(rule, node, "manual", message);
  }
}

/// The part of `tf.contrib.x` that is TensorFlow itself; none where the name begins further down.
Node package_in(Migration& migration, Node node) {
  while (node.is(k_attribute)) {
    node = node.child(Field::k_object);
    const std::string name = migration.script.names().sure_name(node);
    if (name == kWhole || name == kBelow) return node;
  }
  return {};
}

/// What the file calls TensorFlow at a place.
struct PackageName {
  std::string text;
  bool below = false;  ///< it is tensorflow.compat.v1
};

/// By `import tensorflow as tf` and the like, where nothing else may have that name at `node`.
PackageName package_at(Migration& migration, Node node) {
  const Tree& tree = migration.script.tree();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    if (!tree.node(i).is(k_import_statement)) continue;
    for (const Node entry : tree.node(i).children(Field::k_name)) {
      const bool aliased = entry.is(k_aliased_import);
      const std::string_view module = aliased ? entry.child(Field::k_name).text() : entry.text();
      if (module != kWhole && (module != kBelow || !aliased)) continue;
      const std::string_view bound = name_bound_by(entry);
      const auto bindings = migration.script.names().table().reaching(bound, node);
      const auto same = [&](const Binding* each) {
        return each->how == Binding::How::kImport && each->level == 0 && each->dotted == module;
      };
      if (!bindings.empty() && std::ranges::all_of(bindings, same)) return {std::string(bound), module == kBelow};
    }
  }
  return {};
}

/// Asks for an import at the head of the file; false, with a note, where the file gives its name to something else.
bool take_import(Migration& migration, const Rule& rule, Node node, const std::string& line, size_t change) {
  const std::string taken = migration.script.taken_name(line, node);
  if (taken.empty()) {
    migration.rewriter.need_import(line, change);
    return true;
  }
  migration.ledger.note(
      rule, node, "manual",
      fmt::format("left as it is: the change needs `{}`, and the file gives the name `{}` to something "
                  "else; rename that, then migrate again",
                  line, taken));
  return false;
}

/// A place in TensorFlow, by the name that the file has for the package.
bool put_in_package(Migration& migration, const Rule& rule, Node node, const MovedName& moved, size_t change) {
  const bool below = moved.place.starts_with(std::string(kBelow) + ".");
  const std::string rest = moved.place.substr(below ? kBelow.size() : kWhole.size());
  const auto text = [&](bool is_below) {
    // With --tf1 the import of tensorflow becomes one of compat.v1.
    return (below && !is_below && !is_in(migration, "tf1") ? std::string(kBelow.substr(kWhole.size())) : "") + rest;
  };
  if (const Node root = package_in(migration, node)) {
    const bool is_below = migration.script.names().sure_name(root) == kBelow;
    migration.rewriter.edits().replace(root.end(), node.end(), text(is_below), change);
    return true;
  }
  PackageName package = package_at(migration, node);
  if (package.text.empty()) {
    package = {"tf", below || is_in(migration, "compat")};
    const std::string_view module = package.below ? kBelow : kWhole;
    if (!take_import(migration, rule, node, fmt::format("import {} as tf", module), change)) return false;
  }
  migration.rewriter.edits().replace(node.begin(), node.end(), package.text + text(package.below), change);
  return true;
}

bool put_place(Migration& migration, const Rule& rule, Node node, const MovedName& moved, size_t change) {
  if (moved.import == kWhole) return put_in_package(migration, rule, node, moved, change);
  if (!take_import(migration, rule, node, "import " + moved.import, change)) return false;
  migration.rewriter.edits().replace(node.begin(), node.end(), moved.place, change);
  tell_of_package(migration, rule, node, moved.import);
  return true;
}

void tell(Migration& migration, const Rule& rule, Node node, const MovedName& moved) {
  if (moved.told.empty()) return;
  migration.ledger.note(rule, node, "unsupported", fmt::format("`{}` {}", moved.place, moved.told));
}

/// A use. A single name is left to what binds it.
bool moved_use(Migration& migration, const Rule& rule, Node node, size_t change) {
  if (!node.is(k_attribute)) return false;
  const MovedName* moved = moved_name(as_in_table(migration.script.names().sure_name(node)));
  if (moved == nullptr || !not_taken(node, *moved).empty() || !put_place(migration, rule, node, *moved, change))
    return false;
  tell(migration, rule, node, *moved);
  return true;
}

/// Lists a use of what has no such place.
bool gone_use(Migration& migration, const Rule& rule, Node node, size_t) {
  if (node.parent().is(k_attribute) && node.field() == Field::k_object) return false;  // the whole name is met, too
  const MovedName moved = moved_place(as_in_table(migration.script.names().sure_name(node)));
  const std::string argument = moved.place.empty() ? "" : not_taken(node, moved);
  if (!moved.place.empty() && argument.empty()) return false;
  migration.ledger.note(rule, node, "manual",
                        argument.empty() ? filled(rule.message, node)
                                         : fmt::format("left as it is: `{}` takes no {}, and is what `{}` is now",
                                                       moved.place, argument, node.text()));
  return false;  // the row is its own
}

Node import_around(Node node) {
  while (node && !node.is(k_import_statement) && !node.is(k_import_from_statement)) node = node.parent();
  return node;
}

/// import tensorflow.contrib.slim as slim
bool moved_module(Migration& migration, const Rule& rule, Node statement, Node name, size_t change) {
  const bool aliased = name.parent().is(k_aliased_import);
  const Node entry = aliased ? name.parent() : name;
  const std::string module = as_in_table(std::string(name.text()));
  const MovedName* moved = moved_name(module);
  if (aliased && moved != nullptr && moved_name(module + ".*") != nullptr) {
    migration.rewriter.edits().replace(name.begin(), name.end(), moved->place, change);
    tell_of_package(migration, rule, statement, moved->import);
    return true;
  }
  if (const Node use = first_use_left(migration, entry)) {
    migration.ledger.note(
        rule, statement, "manual",
        fmt::format("TensorFlow 2.15 has no `{}`: drop the import once line {} does without it", module, use.line()));
    return false;
  }
  if (statement.children(Field::k_name).size() == 1) return drop_statement(migration, statement, change);
  drop_import_name(migration, entry, change);
  return true;
}

/// The statements that come out of one `from … import`, in the order of its names.
class Imports {
 public:
  void add(const std::string& module, const std::string& what) {
    const auto found = std::ranges::find(statements_, module, &Statement::module);
    Statement& to = module.empty() || found == statements_.end() ? statements_.emplace_back(module) : *found;
    to.names.push_back(what);
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    for (const Statement& each : statements_)
      out.push_back(each.module.empty() ? fmt::format("import {}", each.names[0])
                                        : fmt::format("from {} import {}", each.module, fmt::join(each.names, ", ")));
    return out;
  }

 private:
  struct Statement {
    std::string module;  ///< "" for a plain import
    std::vector<std::string> names;
    explicit Statement(std::string of) : module(std::move(of)) {}
  };
  std::vector<Statement> statements_;
};

std::string as(std::string_view name, std::string_view bound) {
  return name == bound ? std::string(name) : fmt::format("{} as {}", name, bound);
}

/// One name of `from module import …`. True where it does not stay as it is.
bool take_name(Migration& migration, const Rule& rule, Node statement, Node entry, Imports& out) {
  const std::string module(statement.child(Field::k_module_name).text());
  const std::string name((entry.is(k_aliased_import) ? entry.child(Field::k_name) : entry).text());
  const std::string_view bound = name_bound_by(entry);
  if (const MovedName moved = moved_place(as_in_table(module + "." + name)); !moved.place.empty()) {
    const bool whole = moved.from == kWhole && is_in(migration, "tf1");
    out.add(whole ? std::string(kBelow) : moved.from,
            as(moved.from.empty() ? std::string_view(moved.place) : moved.last(), bound));
    tell_of_package(migration, rule, statement, moved.place);
    tell(migration, rule, statement, moved);
    return true;
  }
  const bool of_contrib = as_in_table(module + "." + name + ".").starts_with("tensorflow.contrib.");
  if (of_contrib && !first_use_left(migration, entry)) return true;
  out.add(module, as(name, bound));
  return false;
}

/// Whether a statement has its line for itself, so that others may stand before and behind it.
bool is_alone(const Source& source, Node statement) {
  const std::string& bytes = source.bytes();
  const size_t rest = bytes.find_first_not_of(" \t\f", statement.end());
  return bytes.find_first_not_of(" \t\f", source.line_begin(statement.line())) == statement.begin() &&
         (rest == bytes.npos || bytes[rest] == '\r' || bytes[rest] == '\n' || bytes[rest] == '#');
}

/// from tensorflow.contrib import slim, rnn
bool moved_names(Migration& migration, const Rule& rule, Node statement, size_t change) {
  const std::vector<Node> names = statement.children(Field::k_name);
  if (names.empty()) {
    migration.ledger.note(rule, statement, "manual",
                          "import by their names what the script uses of it, then migrate again");
    return false;
  }
  Imports imports;
  bool any = false;
  for (const Node each : names) any = take_name(migration, rule, statement, each, imports) || any;
  if (!any) return false;
  const std::vector<std::string> lines = imports.lines();
  if (lines.empty()) return drop_statement(migration, statement, change);
  const Source& source = migration.script.source();
  const size_t line = source.line_begin(statement.line());
  const std::string between = is_alone(source, statement) ? std::string(source.newline()) +
                                                                source.bytes().substr(line, statement.begin() - line)
                                                          : "; ";
  migration.rewriter.edits().replace(statement.begin(), statement.end(), fmt::format("{}", fmt::join(lines, between)),
                                     change);
  return true;
}

/// Met for the module of an import and for each of its names; `from` imports are rewritten as a whole.
bool moved_import(Migration& migration, const Rule& rule, Node name, size_t change) {
  const Node statement = import_around(name);
  if (!statement) return false;
  if (statement.is(k_import_statement)) return moved_module(migration, rule, statement, name, change);
  return migration.rewriter.meet_once(statement) && moved_names(migration, rule, statement, change);
}

const CodeEntry kMovedUse("moved_use", moved_use), kGoneUse("gone_use", gone_use),
    kMovedImport("moved_import", moved_import);

}  // namespace
}  // namespace npu::migrate
