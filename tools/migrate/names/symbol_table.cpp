// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/symbol_table.h"

#include <algorithm>

namespace npu::migrate {
namespace {

using enum Kind;

bool is_comprehension(Kind kind) {
  return kind == k_list_comprehension || kind == k_set_comprehension || kind == k_dictionary_comprehension ||
         kind == k_generator_expression;
}

bool is_scope(Kind kind) {
  return kind == k_module || kind == k_class_definition || kind == k_function_definition || kind == k_lambda ||
         is_comprehension(kind);
}

bool is_loop(Kind kind) { return kind == k_for_statement || kind == k_while_statement; }

/// The part of a definition that is evaluated outside of it: defaults, annotations, base classes, the iterated thing.
bool outside(Node child, Node scope) {
  if (scope.is(k_class_definition)) return child.field() != Field::k_body;
  return scope.is(k_function_definition) && child.field() != Field::k_body && child.field() != Field::k_parameters;
}

/// The block (or module) whose statement this node is in, nearest first.
Node block_of(Node node) {
  for (Node at = node.parent(); at; at = at.parent())
    if (at.kind() == k_block || at.kind() == k_module) return at;
  return {};
}

bool contains(Node outer, Node inner) { return outer.index() <= inner.index() && inner.index() < outer.past(); }

Node statement_of(Node node) {
  while (node.parent() && !node.parent().is(k_block) && !node.parent().is(k_module)) node = node.parent();
  return node;
}

/// Whether whoever comes to `use` has passed the binding before.
bool dominates(Node binding, Node use) {
  return binding.index() < use.index() && contains(block_of(binding), use) && !contains(statement_of(binding), use);
}

std::string_view first_parameter(Node function) {
  for (const Node parameter : function.child(Field::k_parameters).named()) {
    if (parameter.is(k_identifier)) return parameter.text();
    if (parameter.is(k_typed_parameter)) return parameter.named().empty() ? "" : parameter.named()[0].text();
    return "";
  }
  return "";
}

}  // namespace

SymbolTable::SymbolTable(const Tree& tree) : tree_(tree) {
  for (uint32_t i = 0; i < tree.size(); ++i) read(tree.node(i));
}

Node SymbolTable::scope_of(Node node) const {
  for (Node child = node, at = node.parent(); at; child = at, at = at.parent()) {
    if (!is_scope(at.kind()) || outside(child, at)) continue;
    if (child.is(k_parameters) || child.is(k_lambda_parameters)) {
      // A default or an annotation is evaluated outside, the parameter's own name is inside.
      bool value = false;
      for (Node in = node; in != child; in = in.parent())
        value = value || in.field() == Field::k_value || in.field() == Field::k_type;
      if (value) continue;
    }
    return at;
  }
  return tree_.root();
}

/// Where Python binds `name` for code of this scope: global and nonlocal statements lead elsewhere.
Node SymbolTable::home(Node scope, std::string_view name) const {
  const auto found = scopes_.find(scope.index());
  if (found == scopes_.end()) return scope;
  const auto leads = found->second.elsewhere.find(std::string(name));
  if (leads == found->second.elsewhere.end()) return scope;
  if (leads->second) return tree_.root();
  for (Node at = scope_of(scope); at && !at.is(k_module); at = scope_of(at))
    if (at.is(k_function_definition) && !all(name, at).empty()) return at;
  return scope;
}

void SymbolTable::bind(Node scope, std::string_view name, Binding binding) {
  scopes_[home(scope, name).index()].bindings[std::string(name)].push_back(std::move(binding));
}

void SymbolTable::bind_target(Node target, Node value, Binding::How how) {
  switch (target.kind()) {
    case k_identifier: {
      Node scope = scope_of(target);
      if (how != Binding::How::kElement || !is_comprehension(scope.kind()))
        while (is_comprehension(scope.kind()) && target.parent().is(k_named_expression)) scope = scope_of(scope);
      return bind(scope, target.text(), {how, target, value, {}, {}});
    }
    case k_attribute: {
      const Node object = target.child(Field::k_object);
      if (!object.is(k_identifier)) return;
      if (const Node type = class_of_self(object.text(), target))
        attributes_[type.index()][std::string(target.child(Field::k_attribute).text())].push_back(
            {how, target, value, {}, {}});
      return;
    }
    case k_pattern_list:
    case k_tuple_pattern:
    case k_list_pattern:
    case k_tuple:
    case k_list: {
      const std::vector<Node> targets = target.named();
      const bool row = value && (value.is(k_expression_list) || value.is(k_tuple) || value.is(k_list));
      const std::vector<Node> values = row && how == Binding::How::kAssign ? value.named() : std::vector<Node>();
      const bool pairs = values.size() == targets.size() &&
                         std::ranges::none_of(targets, [](Node each) { return each.is(k_list_splat_pattern); });
      for (size_t i = 0; i < targets.size(); ++i)
        bind_target(targets[i], pairs ? values[i] : value, pairs ? Binding::How::kAssign : Binding::How::kElement);
      return;
    }
    case k_list_splat_pattern:
    case k_parenthesized_expression:
    case k_as_pattern_target:
      for (const Node inside : target.named())
        bind_target(inside, value, target.is(k_list_splat_pattern) ? Binding::How::kOther : how);
      return;
    default: return;
  }
}

void SymbolTable::bind_parameters(Node function) {
  const Node list = function.child(Field::k_parameters);
  if (!list) return;
  for (const Node parameter : list.named()) {
    Node name = parameter;
    if (parameter.is(k_default_parameter) || parameter.is(k_typed_default_parameter))
      name = parameter.child(Field::k_name);
    if (parameter.is(k_typed_parameter) && !parameter.named().empty()) name = parameter.named()[0];
    while (name && (name.is(k_list_splat_pattern) || name.is(k_dictionary_splat_pattern)))
      name = name.named().empty() ? Node() : name.named()[0];
    if (!name || !name.is(k_identifier)) continue;
    const bool splat = name != parameter && !parameter.is(k_default_parameter) && name.parent() != parameter;
    bind(function, name.text(),
         {splat ? Binding::How::kOther : Binding::How::kParameter,
          name,
          parameter == name ? Node() : parameter.child(Field::k_value),
          parameter == name ? Node() : parameter.child(Field::k_type),
          {}});
  }
}

void SymbolTable::bind_import(Node statement) {
  std::string module;
  int level = 0;
  const bool from = !statement.is(k_import_statement);
  if (const Node name = statement.child(Field::k_module_name)) {
    module = name.text();
    while (module.starts_with('.')) module.erase(0, 1), ++level;
    std::erase_if(module, [](char c) { return c == ' ' || c == '\\' || c == '\n' || c == '\r' || c == '\t'; });
  }
  if (statement.is(k_future_import_statement)) return;
  const Node scope = scope_of(statement);
  for (const Node each : statement.children()) {
    if (each.is(k_wildcard_import)) {
      stars_.push_back({Binding::How::kImport, each, {}, {}, module, level, true});
      continue;
    }
    if (each.field() != Field::k_name) continue;
    const Node name = each.is(k_aliased_import) ? each.child(Field::k_name) : each;
    const Node alias = each.is(k_aliased_import) ? each.child(Field::k_alias) : Node();
    std::string dotted(name.text());
    std::string_view bound = alias ? alias.text() : std::string_view(dotted).substr(0, dotted.find('.'));
    const std::string bound_name(bound);
    if (from)
      dotted = module.empty() ? dotted : module + "." + dotted;
    else if (!alias)
      dotted.resize(bound_name.size());  // `import a.b` binds a
    bind(scope, bound_name, {Binding::How::kImport, each, {}, {}, dotted, level, from});
  }
}

void SymbolTable::read(Node node) {
  switch (node.kind()) {
    case k_import_statement:
    case k_import_from_statement: return bind_import(node);
    case k_function_definition:
      bind(scope_of(node), node.child(Field::k_name).text(), {Binding::How::kFunction, node, {}, {}, {}});
      return bind_parameters(node);
    case k_lambda: return bind_parameters(node);
    case k_class_definition:
      return bind(scope_of(node), node.child(Field::k_name).text(), {Binding::How::kClass, node, {}, {}, {}});
    case k_assignment:
      if (const Node value = node.child(Field::k_right)) {
        Node last = value;  // a = b = c: all are c
        while (last.is(k_assignment) && last.child(Field::k_right)) last = last.child(Field::k_right);
        bind_target(node.child(Field::k_left), last, Binding::How::kAssign);
      }
      return;
    case k_named_expression:
      return bind_target(node.child(Field::k_name), node.child(Field::k_value), Binding::How::kAssign);
    case k_augmented_assignment: return bind_target(node.child(Field::k_left), {}, Binding::How::kOther);
    case k_for_statement:
    case k_for_in_clause:
      return bind_target(node.child(Field::k_left), node.child(Field::k_right), Binding::How::kElement);
    case k_as_pattern: {
      const std::vector<Node> parts = node.named();
      const Node target = node.child(Field::k_alias);
      const bool with = node.parent().is(k_with_item);
      if (target && !parts.empty())
        bind_target(target, with ? parts[0] : Node(), with ? Binding::How::kAssign : Binding::How::kOther);
      return;
    }
    case k_delete_statement:
      for (const Node target : node.named())
        if (target.is(k_identifier)) bind_target(target, {}, Binding::How::kOther);
      return;
    case k_global_statement:
    case k_nonlocal_statement:
      for (const Node name : node.named())
        scopes_[scope_of(node).index()].elsewhere[std::string(name.text())] = node.is(k_global_statement);
      return;
    default: return;
  }
}

std::vector<const Binding*> SymbolTable::all(std::string_view name, Node scope) const {
  std::vector<const Binding*> out;
  const auto found = scopes_.find(scope.index());
  if (found == scopes_.end()) return out;
  const auto bindings = found->second.bindings.find(std::string(name));
  if (bindings == found->second.bindings.end()) return out;
  for (const Binding& binding : bindings->second) out.push_back(&binding);
  return out;
}

std::vector<const Binding*> SymbolTable::everywhere(std::string_view name) const {
  std::vector<const Binding*> out;
  for (const auto& [node, scope] : scopes_)
    if (const auto found = scope.bindings.find(std::string(name)); found != scope.bindings.end())
      for (const Binding& binding : found->second) out.push_back(&binding);
  std::ranges::sort(out, {}, [](const Binding* binding) { return binding->node.index(); });
  return out;
}

std::vector<std::string> SymbolTable::names(Node scope) const {
  std::vector<std::string> out;
  if (const auto found = scopes_.find(scope.index()); found != scopes_.end())
    for (const auto& [name, bindings] : found->second.bindings) out.push_back(name);
  std::ranges::sort(out);
  return out;
}

const std::unordered_map<std::string, std::vector<Binding>>& SymbolTable::attributes(Node type) const {
  static const std::unordered_map<std::string, std::vector<Binding>> none;
  const auto found = attributes_.find(type.index());
  return found == attributes_.end() ? none : found->second;
}

std::vector<const Binding*> SymbolTable::reaching(std::string_view name, Node use) const {
  bool first = true;
  for (Node scope = scope_of(use);; scope = scope_of(scope)) {
    const bool skipped = !first && scope.is(k_class_definition);  // a class's names are not those of its methods
    const Node at = home(scope, name);
    std::vector<const Binding*> found = skipped ? std::vector<const Binding*>() : all(name, at);
    if (!found.empty()) {
      if (at != scope || !first) return found;
      const Binding* last = nullptr;
      for (const Binding* binding : found)
        if (dominates(binding->node, use)) last = binding;
      const bool parameter = last == nullptr && found[0]->how == Binding::How::kParameter;
      if (last == nullptr && !parameter) return found;
      Node loop = use;  // the outermost loop that begins after the last sure binding
      for (Node around = use.parent(); around && around != scope; around = around.parent())
        if (is_loop(around.kind()) && (last == nullptr || !contains(around, last->node))) loop = around;
      std::erase_if(found, [&](const Binding* binding) {
        if (binding == last || contains(loop, binding->node)) return false;
        const Node node = binding->node;
        if (contains(statement_of(node), use) && binding->how == Binding::How::kAssign) return true;  // x = f(x)
        return node.index() > use.index() || (last != nullptr && node.index() < last->node.index());
      });
      return found;
    }
    if (scope.is(k_module)) return {};
    first = false;
  }
}

Node SymbolTable::function_around(Node node) {
  for (Node child = node, at = node.parent(); at; child = at, at = at.parent())
    if (at.is(k_function_definition) && child.field() == Field::k_body) return at;
  return {};
}

Node SymbolTable::class_of_self(std::string_view name, Node use) const {
  for (Node function = function_around(use); function; function = function_around(function)) {
    if (first_parameter(function) != name) continue;
    Node above = function.parent();
    if (above.is(k_decorated_definition)) above = above.parent();
    return above.parent().is(k_class_definition) ? above.parent() : Node();
  }
  return {};
}

std::string SymbolTable::qualified(Node definition) {
  std::string out(definition.child(Field::k_name).text());
  for (Node at = definition.parent(); at; at = at.parent()) {
    if (at.is(k_function_definition)) return "";
    if (at.is(k_class_definition)) out = std::string(at.child(Field::k_name).text()) + "." + out;
  }
  return out;
}

}  // namespace npu::migrate
