// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/symbol_table.h"

#include <algorithm>

namespace npu::migrate {
namespace {

using enum Kind;

constexpr ptrdiff_t kLookedAt = 256;  // bindings of one name before a use
constexpr size_t kMostBindings = 64;  // that may reach one use

bool is_comprehension(Kind kind) {
  return kind == k_list_comprehension || kind == k_set_comprehension || kind == k_dictionary_comprehension ||
         kind == k_generator_expression;
}

bool is_scope(Kind kind) {
  return kind == k_module || kind == k_class_definition || kind == k_function_definition || kind == k_lambda ||
         is_comprehension(kind);
}

bool is_loop(Kind kind) { return kind == k_for_statement || kind == k_while_statement; }

/// Whether a child of a scope's own node is evaluated inside it. Decorators stand around a definition; of a
/// comprehension, what its first `for` goes over is evaluated outside, which is seen to at that clause.
bool inside(Node child, Node scope) {
  if (scope.is(k_class_definition)) return child.field() == Field::k_body;
  if (scope.is(k_function_definition)) return child.field() == Field::k_body || child.field() == Field::k_parameters;
  return true;
}

bool is_first_clause(Node clause) {
  const Node comprehension = clause.parent();
  for (uint32_t i = comprehension.index() + 1; i < clause.index(); i = clause.tree().node(i).past())
    if (clause.tree().node(i).is(k_for_in_clause)) return false;
  return is_comprehension(comprehension.kind());
}

/// Defaults and annotations of parameters.
bool around_parameters(Node node, Node parent) {
  if (node.field() != Field::k_value && node.field() != Field::k_type) return false;
  return parent.is(k_default_parameter) || parent.is(k_typed_default_parameter) || parent.is(k_typed_parameter);
}

/// What may stand between the words of a dotted name.
bool is_blank(char c) { return c == ' ' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\f'; }

bool contains(Node outer, Node inner) { return outer.index() <= inner.index() && inner.index() < outer.past(); }

Node statement_of(Node node) {
  while (node.parent() && !node.parent().is(k_block) && !node.parent().is(k_module)) node = node.parent();
  return node;
}

/// The nodes that surely come after what binds at `node`: the rest of its block; of a loop, a `with`, an except or a
/// case, what stands inside it.
void find_reach(Binding& binding) {
  const Node statement = statement_of(binding.node);
  if (statement.parent()) binding.sure = statement.past(), binding.past = statement.parent().past();
  for (Node at = binding.node; contains(statement, at); at = at.parent()) {
    if (at.is(k_except_clause) || at.is(k_except_group_clause) || at.is(k_case_clause) || at.is(k_lambda)) {
      binding.sure = at.index(), binding.past = at.past();
      return;
    }
    if (is_comprehension(at.kind()) || at.is(k_named_expression) || !at.parent()) return;
  }
  if (statement.is(k_for_statement) || statement.is(k_with_statement)) {
    const Node body = statement.child(Field::k_body);
    if (!body || contains(body, binding.node)) return;
    binding.sure = body.index();
    if (statement.is(k_for_statement)) binding.past = body.past();
  }
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

SymbolTable::SymbolTable(const Tree& tree) : tree_(tree), scope_(tree.size()), loop_(tree.size()) {
  find_scopes();
  for (uint32_t i = 0; i < tree.size(); ++i) declare(tree.node(i));
  for (uint32_t i = 0; i < tree.size(); ++i) read(tree.node(i));
  for (auto& [scope, binding] : nonlocal_) {
    const std::string_view name = binding.node.text();
    scopes_[home(scope, name).index()].bindings[name].push_back(std::move(binding));
  }
  for (auto& [index, scope] : scopes_)
    for (auto& [name, bindings] : scope.bindings)
      std::ranges::stable_sort(bindings, {}, [](const Binding& binding) { return binding.node.index(); });
}

/// In one pass from the root: a node's scope is its parent's, but for what scopes hold themselves.
void SymbolTable::find_scopes() {
  for (uint32_t i = 1; i < tree_.size(); ++i) {
    const Node node = tree_.node(i), parent = node.parent();
    const uint32_t around = scope_[parent.index()];
    loop_[i] = is_loop(parent.kind()) ? parent.index() : loop_[parent.index()];
    if (around_parameters(node, parent))
      scope_[i] = scope_[around];
    else if (parent.is(k_for_in_clause) && node.field() == Field::k_right && is_first_clause(parent))
      scope_[i] = scope_[around];
    else
      scope_[i] = is_scope(parent.kind()) && inside(node, parent) ? parent.index() : around;
  }
}

Node SymbolTable::scope_of(Node node) const { return tree_.node(scope_[node.index()]); }

/// Where Python binds `name` for code of this scope: global and nonlocal statements lead elsewhere.
Node SymbolTable::home(Node scope, std::string_view name) const {
  const auto found = scopes_.find(scope.index());
  if (found == scopes_.end()) return scope;
  const auto leads = found->second.elsewhere.find(name);
  if (leads == found->second.elsewhere.end()) return scope;
  if (leads->second) return tree_.root();
  for (Node at = scope_of(scope); !at.is(k_module); at = scope_of(at)) {
    if (!at.is(k_function_definition)) continue;
    if (const Node further = home(at, name); further != at) return further;
    if (this->found(at, name) != nullptr) return at;
  }
  return scope;
}

void SymbolTable::bind(Node scope, std::string_view name, Binding binding) {
  const bool own = binding.how != Binding::How::kParameter || binding.sure != 0;
  if (own && binding.sure == 0) find_reach(binding);
  if (const auto found = scopes_.find(scope.index()); found != scopes_.end()) {
    const auto leads = found->second.elsewhere.find(name);
    if (leads != found->second.elsewhere.end() && !leads->second && binding.node.is(k_identifier))
      return nonlocal_.emplace_back(scope, std::move(binding)), void();
  }
  const Node at = home(scope, name);
  if (at != scope) binding.sure = binding.past = 0;  // when that code runs, nobody knows
  scopes_[at.index()].bindings[name].push_back(std::move(binding));
}

void SymbolTable::bind_target(Node target, Node value, Binding::How how) {
  switch (target.kind()) {
    case k_identifier: {
      Node scope = scope_of(target);
      if (target.parent().is(k_named_expression))
        while (is_comprehension(scope.kind())) scope = scope_of(scope);
      return bind(scope, target.text(), {how, target, value, {}, {}});
    }
    case k_attribute: {
      const Node object = target.child(Field::k_object);
      if (!object.is(k_identifier)) return;
      if (const Node type = class_of_self(object.text(), target))
        attributes_[type.index()][target.child(Field::k_attribute).text()].push_back({how, target, value, {}, {}});
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
      const bool splats = std::ranges::any_of(targets, [](Node each) { return each.is(k_list_splat_pattern); });
      const bool pairs = values.size() == targets.size() && !splats;
      const bool counted = how == Binding::How::kAssign && !splats;
      for (size_t i = 0; i < targets.size(); ++i)
        if (!pairs && counted && targets[i].is(k_identifier)) {
          Binding element{Binding::How::kElement, targets[i], value, {}, {}};
          element.place = static_cast<int>(i);
          bind(scope_of(targets[i]), targets[i].text(), std::move(element));
        } else {
          bind_target(targets[i], pairs ? values[i] : value, pairs ? Binding::How::kAssign : Binding::How::kElement);
        }
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
  const Node list = function.child(Field::k_parameters), body = function.child(Field::k_body);
  if (!list) return;
  const auto take = [&](Node name, Node value, Node type, Binding::How how) {
    Binding binding{how, name, value, type, {}};
    binding.sure = body ? body.index() : list.past(), binding.past = function.past();
    if (name.is(k_identifier)) bind(function, name.text(), std::move(binding));
  };
  for (const Node parameter : list.named()) {
    const bool defaults = parameter.is(k_default_parameter) || parameter.is(k_typed_default_parameter);
    Node name = defaults ? parameter.child(Field::k_name) : parameter;
    if (parameter.is(k_typed_parameter) && !parameter.named().empty()) name = parameter.named()[0];
    if (name.is(k_tuple_pattern)) {  // Python 2: def f((a, b))
      for (uint32_t i = name.index(); i < name.past(); ++i) take(tree_.node(i), {}, {}, Binding::How::kOther);
      continue;
    }
    const bool splat = name.is(k_list_splat_pattern) || name.is(k_dictionary_splat_pattern);
    if (splat) name = name.named().empty() ? name : name.named()[0];
    if (splat)
      take(name, {}, {}, Binding::How::kOther);
    else
      take(name, name == parameter ? Node() : parameter.child(Field::k_value),
           name == parameter ? Node() : parameter.child(Field::k_type), Binding::How::kParameter);
  }
}

void SymbolTable::bind_import(Node statement) {
  std::string module;
  int level = 0;
  const bool from = !statement.is(k_import_statement);
  if (const Node name = statement.child(Field::k_module_name)) {
    module = name.text();
    std::erase_if(module, is_blank);
    while (module.starts_with('.')) module.erase(0, 1), ++level;
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
    std::erase_if(dotted, is_blank);
    const std::string_view bound =
        alias ? alias.text() : name.text().substr(0, name.text().find_first_of(". \t\\\r\n"));
    if (from)
      dotted = module.empty() ? dotted : module + "." + dotted;
    else if (!alias)
      dotted.resize(bound.size());  // `import a.b` binds a
    bind(scope, bound, {Binding::How::kImport, each, {}, {}, dotted, level, from});
  }
}

/// Names that a pattern of `case` takes: single words that are no keyword's, in patterns and behind stars.
void SymbolTable::bind_capture(Node pattern) {
  for (const Node each : pattern.named()) {
    const Node name = each.is(k_dotted_name) && each.named().size() == 1 ? each.named()[0] : each;
    const bool keyword = pattern.is(k_keyword_pattern) && each == pattern.named()[0];
    if (name.is(k_identifier) && !keyword && name.text() != "_") bind_target(name, {}, Binding::How::kOther);
  }
}

void SymbolTable::declare(Node statement) {
  if (!statement.is(k_global_statement) && !statement.is(k_nonlocal_statement)) return;
  for (const Node name : statement.named())
    scopes_[scope_of(statement).index()].elsewhere[name.text()] = statement.is(k_global_statement);
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
        return bind_target(node.child(Field::k_left), last, Binding::How::kAssign);
      }
      if (const Node left = node.child(Field::k_left); left.is(k_identifier))  // x: int, which binds nothing yet
        bind(scope_of(left), left.text(), {Binding::How::kParameter, left, {}, node.child(Field::k_type), {}});
      return;
    case k_named_expression:
      return bind_target(node.child(Field::k_name), node.child(Field::k_value), Binding::How::kAssign);
    case k_augmented_assignment: return bind_target(node.child(Field::k_left), {}, Binding::How::kOther);
    case k_for_statement:
    case k_for_in_clause:
      return bind_target(node.child(Field::k_left), node.child(Field::k_right), Binding::How::kElement);
    case k_as_pattern: {
      const std::vector<Node> parts = node.named();
      Node target = node.child(Field::k_alias);
      if (!target && parts.size() == 2 && parts[1].is(k_identifier)) target = parts[1];  // of a case
      const bool with = node.parent().is(k_with_item);
      if (target) bind_target(target, with ? parts[0] : Node(), with ? Binding::How::kAssign : Binding::How::kOther);
      return;
    }
    case k_case_pattern:
    case k_splat_pattern:
    case k_keyword_pattern: return bind_capture(node);
    case k_delete_statement:
      for (const Node target : node.named())
        if (target.is(k_identifier)) bind_target(target, {}, Binding::How::kOther);
      return;
    default: return;
  }
}

const std::vector<Binding>* SymbolTable::found(Node scope, std::string_view name) const {
  const auto found = scopes_.find(scope.index());
  if (found == scopes_.end()) return nullptr;
  const auto bindings = found->second.bindings.find(name);
  return bindings == found->second.bindings.end() ? nullptr : &bindings->second;
}

std::vector<const Binding*> SymbolTable::all(std::string_view name, Node scope) const {
  std::vector<const Binding*> out;
  if (const std::vector<Binding>* bindings = found(scope, name))
    for (const Binding& binding : *bindings) out.push_back(&binding);
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
    for (const auto& [name, bindings] : found->second.bindings) out.emplace_back(name);
  std::ranges::sort(out);
  return out;
}

const SymbolTable::Bindings& SymbolTable::attributes(Node type) const {
  static const Bindings none;
  const auto found = attributes_.find(type.index());
  return found == attributes_.end() ? none : found->second;
}

Node SymbolTable::holder(std::string_view name, Node use) const {
  bool first = true;
  for (Node scope = scope_of(use);; scope = scope_of(scope)) {
    if (first || !scope.is(k_class_definition)) {  // a class's names are not those of its methods
      const Node at = home(scope, name);
      if (at != scope || scope.is(k_module) || found(scope, name) != nullptr) return at;
    }
    first = false;
  }
}

std::vector<const Binding*> SymbolTable::reaching(std::string_view name, Node use) const {
  const Node at = holder(name, use);
  const std::vector<Binding>* bindings = found(at, name);
  std::vector<const Binding*> out;
  if (bindings == nullptr) return out;
  Node scope = scope_of(use);
  while (scope != at && is_comprehension(scope.kind())) use = scope, scope = scope_of(scope);  // these run at once
  const bool later = scope != at;  // another function: whatever stands there when it runs
  const auto position = [](const Binding& binding) { return binding.node.index(); };
  const auto before_place = [](uint32_t place, const Binding& binding) { return place < binding.node.index(); };
  const auto after = std::ranges::upper_bound(*bindings, use.index(), {}, position);
  const auto begin = after - bindings->begin() > kLookedAt ? after - kLookedAt : bindings->begin();
  auto sure = later ? begin : after;  // behind the nearest that surely came before
  while (sure != begin && !(sure[-1].sure <= use.index() && use.index() < sure[-1].past)) --sure;
  const Binding* last = sure == begin ? nullptr : &sure[-1];
  // What stands further down reaches the use only around a loop that the last sure binding stands outside of.
  Node loop = use;
  for (uint32_t each = loop_[use.index()]; each > at.index(); each = loop_[each])
    if (last == nullptr || !contains(tree_.node(each), last->node)) loop = tree_.node(each);
  const bool many = std::ssize(*bindings) > kLookedAt;  // then only the ones around the use
  const auto from = !many ? bindings->begin() : last == nullptr ? begin : sure - 1;
  const auto end = !many ? bindings->end() : std::upper_bound(after, bindings->end(), loop.past(), before_place);
  for (auto each = from; each != end && out.size() < kMostBindings; ++each) {
    const bool foreign = scope_of(each->node) != scope;  // by global or nonlocal from a function, at any time
    const bool before = each->node.index() < use.index() && (last == nullptr || &*each >= last);
    const bool itself = use.index() < each->sure && !each->node.parent().is(k_named_expression);  // x = f(x)
    if (foreign || contains(loop, each->node) || (before && !itself) || last == nullptr) out.push_back(&*each);
  }
  static const Binding anything;
  if (out.size() == kMostBindings || (last == nullptr && begin != bindings->begin())) out.push_back(&anything);
  return out;
}

Node SymbolTable::function_around(Node node) {
  for (Node child = node, at = node.parent(); at; child = at, at = at.parent())
    if (at.is(k_function_definition) && child.field() == Field::k_body) return at;
  return {};
}

Node SymbolTable::class_of_self(std::string_view name, Node use) const {
  for (Node scope = scope_of(use); !scope.is(k_module); scope = scope_of(scope)) {
    if (!scope.is(k_function_definition) || first_parameter(scope) != name) continue;
    const Node type = scope_of(scope);
    return type.is(k_class_definition) && !decorated(scope, "staticmethod") ? type : Node();
  }
  return {};
}

bool SymbolTable::decorated(Node definition, std::string_view by) {
  if (!definition.parent().is(k_decorated_definition)) return false;
  return std::ranges::any_of(definition.parent().named(), [&](Node decorator) {
    return decorator.is(k_decorator) && !decorator.named().empty() && decorator.named()[0].text().ends_with(by);
  });
}

AccessPath SymbolTable::qualified(Node definition) {
  AccessPath out = {Step::attribute(definition.child(Field::k_name).text())};
  Node outermost = definition;
  for (Node at = definition.parent(); at; at = at.parent()) {
    if (at.is(k_function_definition) || at.is(k_lambda)) {
      out[0] = Step::local(outermost.index());
      return out;
    }
    if (!at.is(k_class_definition)) continue;
    out.insert(out.begin(), Step::attribute(at.child(Field::k_name).text()));
    outermost = at;
  }
  return out;
}

}  // namespace npu::migrate
