// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/action.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"
#include "tools/migrate/migration/literal.h"
#include "tools/migrate/migration/statement.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr std::string_view kNothing = "None";  // what a call gives that is left out

Node callee_of(Node node) { return node.is(k_call) ? node.child(Field::k_function) : node; }

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += with.size()) text.replace(at, what.size(), with);
}

bool replace(Migration& migration, Node node, const std::string& text, size_t change) {
  if (!node || node.text() == text) return false;
  migration.rewriter.edits().replace(node.begin(), node.end(), text, change);
  return true;
}

/// Another callee; what it keeps of the old one stays as it is, so that changes in there are made too.
bool replace_callee(Migration& migration, Node node, const std::string& text, size_t change) {
  constexpr std::string_view kObject = "{object}";
  const Node callee = callee_of(node);
  const size_t at = text.find(kObject);
  if (!callee.is(k_attribute) || at == text.npos) return replace(migration, callee, filled(text, node), change);
  const Node object = callee.child(Field::k_object);
  if (at != 0) migration.rewriter.edits().insert(object.begin(), filled(text.substr(0, at), node), change);
  migration.rewriter.edits().replace(object.end(), callee.end(), filled(text.substr(at + kObject.size()), node),
                                     change);
  return true;
}

bool set(Migration& migration, const Action& action, const Arguments& arguments, Node node, size_t change) {
  if (const Node there = arguments.keyword(action.key)) {
    if (action.what == Action::What::kDefault) return false;
    const Node value = there.child(Field::k_value);
    std::string text = filled(action.text, node);
    replace_all(text, "{old}", value.text());
    return replace(migration, value, text, change);
  }
  if (action.position >= 0 && arguments.at(action.position))
    return action.what == Action::What::kSet &&
           replace(migration, arguments.at(action.position), filled(action.text, node), change);
  if (arguments.open()) return false;  // **more may give it
  const std::string& name = action.keyword.empty() ? action.key : action.keyword;
  arguments.add(migration, name + "=" + filled(action.text, node), change);
  return true;
}

/// Whether the expression is what the wrapping gives: spelled so here, or a name that holds such a result.
bool wrapped_already(Migration& migration, Node value, const std::string& before) {
  if (value.text().starts_with(before.substr(0, before.find('(') + 1))) return true;
  const std::string result = "." + before.substr(0, before.find('(')) + "()";
  return std::ranges::any_of(migration.script.names().of(value),
                             [&](const Value& each) { return each.is_name() && each.ends_with(result); });
}

/// Whether the place is an argument of the very call that would be put around it.
bool inside_wrapping(Node node, const std::string& before) {
  Node around = node.parent();
  if (around.is(k_keyword_argument)) around = around.parent();
  if (!around.is(k_argument_list) || !around.parent().is(k_call)) return false;
  return around.parent().child(Field::k_function).text() == before.substr(0, before.find('('));
}

/// Whether the value of this place is handed to such a call somewhere else in the file, by name.
bool wrapped_later(Migration& migration, Node node, const std::string& before) {
  const std::string callee = before.substr(0, before.find('('));
  if (migration.script.source().bytes().find(callee) == std::string::npos) return false;
  const Values values = migration.script.names().of(node);
  const auto among = [&](const Value& each) {
    return each.is_name() && std::ranges::find(values, each) != values.end();
  };
  const Tree& tree = migration.script.tree();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const Node call = tree.node(i);
    if (!call.is(k_call) || call.child(Field::k_function).text() != callee) continue;
    for (const Node argument : call.child(Field::k_arguments).named())
      if (argument.is(k_identifier) && std::ranges::any_of(migration.script.names().of(argument), among)) return true;
  }
  return false;
}

bool wrap_argument(Migration& migration, const Action& action, const Arguments& arguments, size_t change) {
  if (const Node value = arguments.value(action.position, action.key)) {
    if (wrapped_already(migration, value, action.text)) return false;
    if (value.is(k_none) && !action.missing.empty()) return replace(migration, value, action.missing, change);
    migration.rewriter.edits().wrap(value.begin(), value.end(), action.text, action.after, change);
    return true;
  }
  if (action.missing.empty() || arguments.open()) return false;
  arguments.add(migration, action.key + "=" + action.missing, change);
  return true;
}

/// In an import, the module's name begins otherwise.
bool rewrite_module(Migration& migration, const Action& action, Node node, size_t change) {
  const std::string_view text = node.text();
  if (!text.starts_with(action.key) || (text.size() > action.key.size() && text[action.key.size()] != '.'))
    return false;
  migration.rewriter.edits().replace(node.begin(), node.begin() + action.key.size(), action.text, change);
  return true;
}

bool literal(Migration& migration, const Rule& rule, const Action& action, Node node, size_t change) {
  if (node.is(k_dotted_name)) return rewrite_module(migration, action, node, change);
  if (node.is(k_comparison_operator)) {
    bool done = false;
    for (const Node side : node.named()) done = rewrite_literals(migration, rule, action, side, change) || done;
    return done;
  }
  if (node.is(k_subscript)) return rewrite_literals(migration, rule, action, node.child(Field::k_subscript), change);
  if (!node.is(k_call) || rule.on == Rule::On::kGiven) return rewrite_literals(migration, rule, action, node, change);
  const Node value = Arguments(node).value(action.position, action.keyword);
  return value && rewrite_literals(migration, rule, action, value, change);
}

}  // namespace

std::string filled(const std::string& text, Node node) {
  std::string out = text;
  if (out.find('{') == out.npos) return out;
  const Node callee = callee_of(node);
  const Node object = callee.is(k_attribute) ? callee.child(Field::k_object) : Node();
  const Node name = callee.is(k_attribute) ? callee.child(Field::k_attribute) : callee;
  const Node first = Arguments(node).at(0);
  replace_all(out, "{self}", node.text());
  replace_all(out, "{callee}", callee.text());
  replace_all(out, "{object}", object ? object.text() : "");
  replace_all(out, "{name}", name.text());
  replace_all(out, "{parameter}", parameter_of(node));
  replace_all(out, "{first}", first ? first.text() : "");
  return out;
}

bool act(Migration& migration, const Rule& rule, const Action& action, Node node, size_t change) {
  const Arguments arguments(node);
  switch (action.what) {
    case Action::What::kCallee: return replace_callee(migration, node, action.text, change);
    case Action::What::kAttribute: {
      const Node callee = callee_of(node);
      return callee.is(k_attribute) && replace(migration, callee.child(Field::k_attribute), action.text, change);
    }
    case Action::What::kDotted: {
      const Node callee = callee_of(node);
      return callee.is(k_attribute) && replace(migration, callee, action.text, change);
    }
    case Action::What::kReplace:
      return (action.text == kNothing && drop_statement(migration, node, change)) ||
             replace(migration, node, filled(action.text, node), change);
    case Action::What::kWrap:
      if (inside_wrapping(node, action.text) || wrapped_later(migration, node, action.text)) return false;
      migration.rewriter.edits().wrap(node.begin(), node.end(), filled(action.text, node), filled(action.after, node),
                                      change);
      return true;
    case Action::What::kSet:
    case Action::What::kDefault: return arguments.list() && set(migration, action, arguments, node, change);
    case Action::What::kRename: {
      const Node there = arguments.keyword(action.key);
      return there && !arguments.keyword(action.text) &&
             replace(migration, there.child(Field::k_name), action.text, change);
    }
    case Action::What::kRemove: {
      Node there = arguments.keyword(action.key);
      if (!there) there = arguments.at(action.position);
      if (there) arguments.remove(migration, there, change);
      return static_cast<bool>(there);
    }
    case Action::What::kArgument: return arguments.list() && wrap_argument(migration, action, arguments, change);
    case Action::What::kKeep: return arguments.keep(migration, action.position, action.key, change);
    case Action::What::kBody: return put_body(migration, rule, filled(action.text, node), node, change);
    case Action::What::kEntry: return put_around_program(migration, action.text, action.after, change);
    case Action::What::kLiteral: return literal(migration, rule, action, node, change);
    case Action::What::kCode: {
      const Code code = find_code(action.text);
      if (code == nullptr)
        throw Refusal(fmt::format("rule {} names the code `{}`, which there is not", rule.id, action.text));
      return code(migration, rule, node, change);
    }
  }
  return false;
}

}  // namespace npu::migrate
