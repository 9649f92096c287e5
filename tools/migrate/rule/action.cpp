// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/rule/action.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/migrate/rule/code.h"
#include "tools/migrate/rule/statement.h"

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
  migration.edits().replace(node.begin(), node.end(), text, change);
  return true;
}

/// Another callee; what it keeps of the old one stays as it is, so that changes in there are made too.
bool replace_callee(Migration& migration, Node node, const std::string& text, size_t change) {
  constexpr std::string_view kObject = "{object}";
  const Node callee = callee_of(node);
  const size_t at = text.find(kObject);
  if (!callee.is(k_attribute) || at == text.npos) return replace(migration, callee, filled(text, node), change);
  const Node object = callee.child(Field::k_object);
  if (at != 0) migration.edits().insert(object.begin(), filled(text.substr(0, at), node), change);
  migration.edits().replace(object.end(), callee.end(), filled(text.substr(at + kObject.size()), node), change);
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
  return std::ranges::any_of(migration.names().of(value),
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
  if (migration.source().bytes().find(callee) == std::string::npos) return false;
  const Values values = migration.names().of(node);
  const auto among = [&](const Value& each) {
    return each.is_name() && std::ranges::find(values, each) != values.end();
  };
  const Tree& tree = migration.tree();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const Node call = tree.node(i);
    if (!call.is(k_call) || call.child(Field::k_function).text() != callee) continue;
    for (const Node argument : call.child(Field::k_arguments).named())
      if (argument.is(k_identifier) && std::ranges::any_of(migration.names().of(argument), among)) return true;
  }
  return false;
}

bool wrap_argument(Migration& migration, const Action& action, const Arguments& arguments, size_t change) {
  if (const Node value = arguments.value(action.position, action.key)) {
    if (wrapped_already(migration, value, action.text)) return false;
    if (value.is(k_none) && !action.missing.empty()) return replace(migration, value, action.missing, change);
    migration.edits().wrap(value.begin(), value.end(), action.text, action.after, change);
    return true;
  }
  if (action.missing.empty() || arguments.open()) return false;
  arguments.add(migration, action.key + "=" + action.missing, change);
  return true;
}

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

/// In an import, the module's name begins otherwise.
bool rewrite_module(Migration& migration, const Action& action, Node node, size_t change) {
  const std::string_view text = node.text();
  if (!text.starts_with(action.key) || (text.size() > action.key.size() && text[action.key.size()] != '.'))
    return false;
  migration.edits().replace(node.begin(), node.begin() + action.key.size(), action.text, change);
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

void put_literal(Migration& migration, const Place& place, bool numbered, const std::string& text, size_t change) {
  Edits& edits = migration.edits();
  const Node string = numbered && pins(migration.options()) ? string_at(migration.tree(), place) : Node();
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
  for (const Value& value : migration.names().of(expression)) {
    if (!value.is_text() || !value.text.starts_with(action.key)) continue;
    const std::string_view rest = std::string_view(value.text).substr(action.key.size());
    if (!is_index(rest)) continue;
    if (rest.empty() && !value.whole) continue;  // "cuda" + x: nobody knows what
    if (!migration.take_literal(value.origin)) continue;
    if (value.origin.file != migration.names().file()) {
      migration.edit_elsewhere(rule, value, action.text);
      for (const std::string& line : rule.imports) migration.need_import(line, Migration::kAlways);
      continue;
    }
    const size_t begin = value.origin.begin, end = begin + action.key.size();
    const bool here = expression.begin() <= begin && end <= expression.end();
    const size_t row = here ? change : migration.change_at(rule, begin, end);
    put_literal(migration, {value.origin.file, value.origin.begin, static_cast<uint32_t>(end)},
                !rest.empty() && action.key == "cuda", action.text, row);
    for (const std::string& line : rule.imports) migration.need_import(line, row);
    done = done || here;
  }
  return done;
}

Arguments::Arguments(Node call) : list_(call.is(k_call) ? call.child(Field::k_arguments) : Node()) {
  if (!list_) return;
  if (!list_.is(k_argument_list)) {  // f(x for x in y)
    positional_ = {list_};
    open_ = true;
    return;
  }
  all_ = list_.named();
  bool counts = true;
  for (const Node each : all_) {
    open_ = open_ || each.is(k_dictionary_splat);
    counts = counts && !each.is(k_list_splat);
    if (counts && !each.is(k_keyword_argument) && !each.is(k_dictionary_splat)) positional_.push_back(each);
  }
}

Node Arguments::at(int position) const {
  return position >= 0 && static_cast<size_t>(position) < positional_.size() ? positional_[position] : Node();
}

Node Arguments::keyword(std::string_view name) const {
  if (name.empty()) return {};
  for (const Node each : all_)
    if (each.is(k_keyword_argument) && each.child(Field::k_name).text() == name) return each;
  return {};
}

Node Arguments::value(int position, std::string_view name) const {
  const Node there = keyword(name);
  return there ? there.child(Field::k_value) : at(position);
}

void Arguments::add(Migration& migration, const std::string& text, size_t change) const {
  Node last;  // what the new argument follows
  for (const Node each : all_)
    if (!each.is(k_dictionary_splat)) last = each;
  if (!last) {
    const bool before_more = !all_.empty();
    const size_t at = before_more ? all_[0].begin() : list_.begin() + 1;
    const std::string comma = !before_more && migration.edits().inserted(at) ? ", " : "";
    return migration.edits().insert(at, before_more ? text + ", " : comma + text, change);
  }
  // Arguments on lines of their own get one more line like theirs.
  const std::string& bytes = migration.source().bytes();
  const size_t line = migration.source().line_begin(last.line());
  const bool own_line = bytes.find_first_not_of(" \t", line) == last.begin() && list_.line() != last.line();
  const std::string before =
      own_line ? "," + std::string(migration.source().newline()) + bytes.substr(line, last.begin() - line) : ", ";
  migration.edits().append(last.end(), before + text, change);
}

void Arguments::remove(Migration& migration, Node argument, size_t change) const {
  const std::vector<Node> parts = list_.children();
  const auto found = std::ranges::find(parts, argument);
  if (found == parts.end()) return;  // f(x for x in y): the list is the argument
  size_t begin = argument.begin(), end = argument.end();
  const auto comma = [](Node node) { return node.is(kToken) && node.text() == ","; };
  // With the comma before it, so that neighbours may go, too; the first one goes with the comma after it.
  const auto before = found - parts.begin();
  const bool is_second = before == 3 && migration.edits().replaced(parts[1].begin(), parts[1].end());  // the first went
  if (before > 1 && comma(*(found - 1)) && !is_second) {
    begin = (found - 1)->begin();
  } else if (found + 1 != parts.end() && comma(*(found + 1))) {
    end = (found + 1)->end();
    const std::string& bytes = migration.source().bytes();
    while (end < bytes.size() && (bytes[end] == ' ' || bytes[end] == '\t')) ++end;
  }
  migration.edits().replace(begin, end, "", change);
}

bool Arguments::keep(Migration& migration, int position, std::string_view name, size_t change) const {
  Node kept = keyword(name);
  if (!kept) kept = at(position);
  if (!kept) return false;
  const size_t begin = all_.front().begin(), end = all_.back().end();
  if (begin < kept.begin()) migration.edits().replace(begin, kept.begin(), "", change);
  if (kept.end() < end) migration.edits().replace(kept.end(), end, "", change);
  return true;
}

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
      migration.edits().wrap(node.begin(), node.end(), filled(action.text, node), filled(action.after, node), change);
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
