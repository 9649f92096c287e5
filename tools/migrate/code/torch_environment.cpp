// SPDX-License-Identifier: Apache-2.0
// Environment variables: several set at once, and those that are only listed.
#include <fmt/format.h>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"
#include "tools/migrate/rule/environment.h"

namespace npu::migrate {
namespace {

using enum Kind;

/// The entries that `update` sets: of a dictionary, of `dict(…)`, and keywords. Strings and names of keywords.
std::vector<Node> keys(Node call) {
  std::vector<Node> out;
  const Node list = call.child(Field::k_arguments);
  if (!list.is(k_argument_list)) return out;
  for (const Node each : list.named()) {
    if (each.is(k_keyword_argument)) out.push_back(each.child(Field::k_name));
    if (each.is(k_dictionary))
      for (const Node pair : each.named())
        if (const Node key = pair.child(Field::k_key)) out.push_back(key);
    if (each.is(k_call) && each.child(Field::k_function).text() == "dict")
      for (const Node key : keys(each)) out.push_back(key);
  }
  return out;
}

/// The name of a variable, without its quotes.
std::string_view bare(Node key) {
  if (!key.is(k_string)) return key.text();
  for (const Node part : key.named())
    if (part.is(k_string_content)) return part.text();
  return "";
}

bool update(Migration& migration, const Rule&, Node node, size_t change) {
  bool done = false;
  for (const Node key : keys(node)) {
    const std::string_view name = bare(key);
    const EnvironmentVariable* known = environment_variable(name);
    if (known == nullptr || known->becomes.empty()) continue;
    const size_t begin = key.begin() + key.text().find(name);
    migration.rewriter.edits().replace(begin, begin + name.size(), known->becomes, change);
    done = true;
  }
  return done;
}

void tell(Migration& migration, const Rule& rule, Node node, std::string_view name) {
  const EnvironmentVariable* known = environment_variable(name);
  if (known == nullptr || known->told.empty()) return;
  const bool idle = known->told.starts_with("no effect");
  migration.ledger.note(rule, node, idle ? "note" : "manual", fmt::format("{}: {}", name, known->told));
}

/// Lists what a call, a subscript or a comparison with os.environ asks for.
bool told(Migration& migration, const Rule& rule, Node node, size_t) {
  std::vector<Node> asked;
  if (node.is(k_comparison_operator))
    asked = node.named();
  else if (node.is(k_subscript))
    asked = {node.child(Field::k_subscript)};
  else if (node.child(Field::k_function).text().ends_with("update"))
    for (const Node key : keys(node)) tell(migration, rule, key, bare(key));
  else
    asked = {Arguments(node).value(0, "key")};
  for (const Node each : asked)
    for (const Value& value : each ? migration.script.names().of(each) : Values())
      if (value.is_text() && value.whole) tell(migration, rule, node, value.text);
  return false;  // the rows are its own
}

const CodeEntry kUpdate("torch-environment-update", update), kTold("torch-environment-told", told);

}  // namespace
}  // namespace npu::migrate
