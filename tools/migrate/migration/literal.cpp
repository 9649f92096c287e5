// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/literal.h"

namespace npu::migrate {
namespace {

using enum Kind;

/// What may follow the word: nothing, or ":" and a number, however it is made ("cuda:%d", f"cuda:{i}", "cuda:" + …).
bool is_index(std::string_view rest) {
  if (!rest.starts_with(':')) return rest.empty();
  rest.remove_prefix(1);
  return rest.empty() || rest[0] == '%' || rest[0] == '{' || rest.find_first_not_of("0123456789") == rest.npos;
}

/// Where the process has its NPU from the environment, devices have no number: "npu" is the one that was set.
bool pins(const Options& options) {
  return options.features.contains("distributed") || options.features.contains("specify-device");
}

/// The string a place lies in.
Node string_at(const Tree& tree, const Place& place) {
  for (uint32_t i = 0; i < tree.size(); ++i)
    if (const Node node = tree.node(i); node.is(k_string) && node.begin() < place.begin && place.begin < node.end())
      return node;
  return {};
}

/// What the whole device is made of: "cuda:1", f"cuda:{i}", "cuda:%d" % i, "cuda:" + str(i), "cuda:{}".format(i).
Node device_around(Node string) {
  const Node parent = string.parent(), call = parent.is(k_attribute) ? parent.parent() : Node();
  if (parent.is(k_binary_operator) && parent.child(Field::k_left) == string) return parent;
  return call.is(k_call) && parent.child(Field::k_attribute).text() == "format" ? call : string;
}

}  // namespace

void put_literal(Migration& migration, const Place& place, bool numbered, const std::string& text, size_t change) {
  Edits& edits = migration.rewriter.edits();
  const Node string = numbered && pins(migration.script.options()) ? string_at(migration.script.tree(), place) : Node();
  const Node whole = string ? device_around(string) : Node();
  if (whole && edits.replaced(whole.begin(), whole.end())) return;
  if (whole) edits.drop_inside(whole.begin(), whole.end());
  if (!string)
    edits.replace(place.begin, place.end, text, change);
  else if (whole != string)
    edits.replace(whole.begin(), whole.end(), '"' + text + '"', change);
  else
    edits.replace(place.begin, string.children().back().begin(), text, change);
}

bool rewrite_literals(Migration& migration, const Rule& rule, const Action& action, Node expression, size_t change) {
  bool done = false;
  for (const Value& value : migration.script.names().of(expression)) {
    if (!value.is_text() || !value.text.starts_with(action.key)) continue;
    const std::string_view rest = std::string_view(value.text).substr(action.key.size());
    if (!is_index(rest)) continue;
    if (rest.empty() && !value.whole) continue;  // "cuda" + x: nobody knows what
    if (!migration.rewriter.take_literal(value.origin)) continue;
    if (value.origin.file != migration.script.names().file()) {
      migration.ledger.edit_elsewhere(rule, value, action.text);
      for (const std::string& line : rule.imports) migration.rewriter.need_import(line, Rewriter::kAlways);
      continue;
    }
    const size_t begin = value.origin.begin, end = begin + action.key.size();
    const bool here = expression.begin() <= begin && end <= expression.end();
    const size_t row = here ? change : migration.ledger.change_at(rule, begin, end);
    put_literal(migration, {value.origin.file, value.origin.begin, static_cast<uint32_t>(end)},
                !rest.empty() && action.key == "cuda", action.text, row);
    for (const std::string& line : rule.imports) migration.rewriter.need_import(line, row);
    done = done || here;
  }
  return done;
}

}  // namespace npu::migrate
