// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/evaluate.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "tools/migrate/names/known.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr int kDeepest = 120;         // expressions inside one another; further in, all is unknown
constexpr size_t kLongest = 200;      // bytes of a dotted name
constexpr size_t kMostReturns = 16;   // return statements looked at
constexpr size_t kMostAssigned = 32;  // assignments to one attribute of self
constexpr size_t kLongestRow = 8;     // values a function returns at once

Value unknown_after(const Value& value, const Step& step) {
  const bool way = value.is_unknown() && value.spelled_size() < kLongest;
  return (way ? value : Value::unknown()).then(step);
}

/// A row of values: the elements of a tuple, with or without brackets.
bool is_row(Node node) { return node.is(k_expression_list) || node.is(k_tuple); }

/// The return statements of a function, not those of functions inside it. Nothing for generators, and for functions
/// with too many.
std::optional<std::vector<Node>> returns(Node function) {
  std::vector<Node> out;
  const Node body = function.child(Field::k_body);
  if (!body) return out;
  for (uint32_t i = body.index(); i < body.past(); ++i) {
    const Node node = body.tree().node(i);
    if (node.is(k_yield)) return {};
    if ((node.is(k_function_definition) || node.is(k_lambda) || node.is(k_class_definition))) i = node.past() - 1;
    if (!node.is(k_return_statement)) continue;
    if (out.size() == kMostReturns) return {};
    out.push_back(node);
  }
  return out;
}

/// Functions and constants every file has; `from m import *` brings others.
bool is_builtin(std::string_view name) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"False",        "None",     "True",  "__file__",    "__name__",   "all",        "any",     "bool",
       "bytes",        "callable", "chr",   "classmethod", "delattr",    "dict",       "dir",     "enumerate",
       "exit",         "filter",   "float", "format",      "frozenset",  "getattr",    "globals", "hasattr",
       "hash",         "id",       "input", "int",         "isinstance", "issubclass", "iter",    "len",
       "list",         "locals",   "map",   "next",        "object",     "open",       "ord",     "print",
       "property",     "range",    "repr",  "reversed",    "set",        "setattr",    "slice",   "sorted",
       "staticmethod", "str",      "super", "tuple",       "type",       "vars",       "zip"});
  return std::ranges::binary_search(kNames, name) || name.ends_with("Error");
}

/// What calling these with keywords gives is a dictionary, or as good as one.
bool is_namespace(const Value& name) {
  if (!name.is_library() || name.path.size() != 2) return false;
  return name.is("types.SimpleNamespace") || name.is("argparse.Namespace") || name.is("easydict.EasyDict");
}

bool is_of_typing(const Value& name) {
  return name.is_library() && name.path.size() > 1 && name.path[0].name.text() == "typing" && parts_at(name.path, 1);
}

bool is_text_method(std::string_view name) {
  return name == "format" || name == "join" || name == "strip" || name == "lower";
}

}  // namespace

Evaluator::Evaluator(const Tree& tree, const Project& project, std::string path, int32_t file, bool follows)
    : tree_(tree),
      project_(project),
      path_(std::move(path)),
      module_(Project::module_of(path_)),
      file_(file),
      follows_(follows),
      table_(tree),
      place_(tree.size()) {}

/// A name in its one spelling; names of the project are followed.
Values Evaluator::known(Value name) {
  if (name.spelled_size() > kLongest) return Value::unknown();
  if (!name.is_ours()) return known_names().canonical(std::move(name));
  return follows_ ? project_.follow(name) : Values(std::move(name));
}

std::string Evaluator::sure_name(Node expression) {
  const Values values = of(expression);
  return values.size() == 1 && values.begin()->is_name() ? values.begin()->spelled() : "";
}

const Values& Evaluator::of(Node expression) {
  static const Values unknown = Value::unknown();
  if (!expression) return unknown;
  if (const uint32_t place = place_[expression.index()]; place != 0) return place == 1 ? unknown : done_[place - 2];
  if (depth_ >= kDeepest) return unknown;
  place_[expression.index()] = 1;  // what depends on itself is unknown
  ++depth_;
  Values out = made(expression);
  --depth_;
  if (out.empty()) out.add(Value::unknown());
  done_.push_back(std::move(out));
  place_[expression.index()] = static_cast<uint32_t>(done_.size() + 1);
  return done_.back();
}

Values Evaluator::made(Node node) {
  switch (node.kind()) {
    case k_identifier: return of_name(node);
    case k_dotted_name: return known(Value::library(dotted(node.text())));
    case k_attribute: return of_attribute(node);
    case k_call: return of_call(node);
    case k_string: return of_string(node);
    case k_concatenated_string: {
      Values out;
      for (Value value : of(node.named()[0])) {
        value.whole = false;
        out.add(value);
      }
      return out;
    }
    case k_parenthesized_expression:
    case k_await:
    case k_type: return node.named().empty() ? Values() : of(node.named()[0]);
    case k_named_expression: return of(node.child(Field::k_value));
    case k_conditional_expression: {
      const std::vector<Node> parts = node.named();  // value, condition, other value
      Values out;
      if (parts.size() == 3) out.add(of(parts[0])), out.add(of(parts[2]));
      return out;
    }
    case k_boolean_operator: {
      Values out = of(node.child(Field::k_left));
      out.add(of(node.child(Field::k_right)));
      return out;
    }
    case k_binary_operator: {  // "cuda:%d" % i, "cuda:" + str(i)
      Values out;
      for (Value value : of(node.child(Field::k_left))) {
        value.whole = false;
        if (const Node right = node.child(Field::k_right); value.is_text() && right.is(k_string))
          value.text += of(right).begin()->text;
        out.add(value.is_text() ? value : Value::unknown());
      }
      return out;
    }
    case k_subscript: return of_subscript(node);
    case k_dictionary: return of_dictionary(node);
    case k_list:
    case k_tuple:
    case k_set:
    case k_expression_list: {
      Values out;
      for (const Node each : node.named())
        for (Value value : of(each)) {
          if (value.is_name()) ++value.held;
          out.add(std::move(value));
        }
      return out;
    }
    case k_integer:
    case k_float:
    case k_none:
    case k_true:
    case k_false: return Value::constant(node.text());
    case k_unary_operator: return Value::constant(node.text());
    default: return Value::unknown();
  }
}

/// An element of a sequence: of a literal one, any of what it holds.
Values Evaluator::element(const Values& values) {
  Values out;
  for (const Value& value : values) {
    if (value.is_name() && value.held > 0) {
      Value inner = value;
      --inner.held;
      out.add(known(std::move(inner)));
    } else if (value.is_name()) {
      out.add(known(value.then(Step::element())));
    } else {
      out.add(value.is_text() ? value : unknown_after(value, Step::element()));
    }
  }
  return out;
}

Values Evaluator::of_name(Node name) {
  const std::vector<const Binding*> bindings = table_.reaching(name.text(), name);
  if (!bindings.empty()) return of_bindings(bindings);
  Values out;
  if (table_.stars().empty() || is_builtin(name.text())) return Value::unknown();
  for (const Binding& star : table_.stars()) {
    const Value module = project_.imported(path_, star.dotted, star.level);
    const Values values = known(module.then(Step::attribute(name.text())));
    // A framework's module gives the name only if it has it, which nobody knows here.
    if (!module.is_ours() || values.open()) continue;
    out.add(values);
  }
  if (out.empty() && table_.stars().size() == 1)
    if (const Value only = project_.imported(path_, table_.stars()[0].dotted, table_.stars()[0].level); !only.is_ours())
      return known(only.then(Step::attribute(name.text())));
  return out.empty() ? Values(Value::unknown()) : out;
}

Values Evaluator::of_bindings(const std::vector<const Binding*>& bindings) {
  Values out;
  for (const Binding* binding : bindings) out.add(of_binding(*binding));
  return out;
}

Values Evaluator::of_binding(const Binding& binding) {
  switch (binding.how) {
    case Binding::How::kImport: return of_import(binding);
    case Binding::How::kAssign: return of(binding.value);
    case Binding::How::kElement:
      if (binding.place >= 0) return of_place(binding);
      return element(of(binding.value));
    case Binding::How::kFunction:
    case Binding::How::kClass: return of_definition(binding.node);
    case Binding::How::kParameter: {
      Values out = of_annotation(binding.type);
      if (binding.value) out.add(of(binding.value));
      out.add(passed(binding));
      if (out.empty() || binding.value || !binding.type) out.add(Value::unknown());
      return out;
    }
    default: return Value::unknown();
  }
}

/// What a parameter of this annotation is: Optional[T] and T | None are a T, other forms of `typing` say nothing here.
Values Evaluator::of_annotation(Node type) {
  while (type.is(k_type) && !type.named().empty()) type = type.named()[0];
  Values out;
  if (type.is(k_binary_operator)) {
    out.add(of_annotation(type.child(Field::k_left)));
    out.add(of_annotation(type.child(Field::k_right)));
  } else if (type.is(k_generic_type) || type.is(k_subscript)) {
    const std::vector<Node> parts = type.named();
    if (parts.size() < 2 || !parts[0].text().ends_with("Optional")) return out;
    const bool list = parts[1].is(Kind::kOther) && !parts[1].named().empty();  // type parameters
    return of_annotation(list ? parts[1].named()[0] : parts[1]);
  } else if (type.is(k_identifier) || type.is(k_attribute)) {
    for (const Value& value : of(type))
      if (value.is_name() && !is_of_typing(value)) out.add(known(value.then(Step::call())));
  }
  return out;
}

/// One of several values that are given at once: `model, loss = made()`.
Values Evaluator::of_place(const Binding& binding) {
  const Node call = binding.value;
  if (!call.is(k_call)) return element(of(call));
  const AccessPath place = {Step::call(), Step::place(static_cast<size_t>(binding.place))};
  const Node function = call.child(Field::k_function);
  Values out;
  if (function.is(k_identifier))
    for (const Binding* each : table_.reaching(function.text(), function))
      if (each->how == Binding::How::kFunction) {
        const std::vector<Values> row = returned_row(each->node);
        const auto at = static_cast<size_t>(binding.place);
        out.add(at < row.size() ? row[at] : Values(Value::unknown()));
      }
  if (!out.empty()) return out;
  for (const Value& value : of(function))
    if (value.is_ours()) out.add(known(value.then(place)));
  return out.empty() ? element(of(call)) : out;
}

Values Evaluator::of_import(const Binding& binding) {
  if (!binding.from) return known(project_.imported(path_, binding.dotted, binding.level));
  const size_t dot = binding.dotted.rfind('.');
  const std::string name = binding.dotted.substr(dot == binding.dotted.npos ? 0 : dot + 1);
  const std::string module = binding.dotted.substr(0, dot == binding.dotted.npos ? 0 : dot);
  return known(project_.imported(path_, module, binding.level).then(Step::attribute(name)));
}

Values Evaluator::of_definition(Node definition) {
  if (SymbolTable::is_property(definition)) return returned(definition);
  return Value::project(joined(module_, SymbolTable::qualified(definition)));
}

/// What an object of this class has as `attribute`.
Values Evaluator::of_self(Node type, std::string_view attribute) {
  Values out;
  const auto& assigned = table_.attributes(type);
  if (const auto found = assigned.find(attribute); found != assigned.end())
    for (const Binding& binding : std::span(found->second).first(std::min(found->second.size(), kMostAssigned)))
      out.add(of_binding(binding));
  for (const Binding* binding : table_.all(attribute, type)) out.add(of_binding(*binding));
  if (!out.empty()) return out;
  if (const Node bases = type.child(Field::k_superclasses))
    for (const Node base : bases.named())
      if (!base.is(k_keyword_argument))
        for (const Value& value : of(base))
          out.add(value.is_name() ? known(value.then(Step::call()).then(Step::attribute(attribute)))
                                  : Values(unknown_after(value, Step::attribute(attribute))));
  return out.empty() ? Values(Value::unknown({Step::attribute(attribute)})) : out;
}

Values Evaluator::of_attribute(Node node) {
  const Node object = node.child(Field::k_object);
  const std::string_view attribute = node.child(Field::k_attribute).text();
  if (object.is(k_identifier))
    if (const Node type = table_.class_of_self(object.text(), node)) return of_self(type, attribute);
  Values out;
  const Values objects = of(object);
  for (const Value& value : objects) {
    if (value.is_constant() && objects.size() > 1) continue;  // None until it is set
    if (const Values data = of_option(value, node); !data.empty()) {
      out.add(data);
      continue;
    }
    if (value.is_name())
      out.add(known(value.then(Step::attribute(attribute))));
    else
      out.add(unknown_after(value, Step::attribute(attribute)));
  }
  return out;
}

Values Evaluator::of_call(Node call) {
  const Node function = call.child(Field::k_function);
  if (function.is(k_attribute) && is_text_method(function.child(Field::k_attribute).text())) {
    Values texts;
    for (Value value : of(function.child(Field::k_object)))
      if (value.is_text()) value.whole = false, texts.add(value);
    if (!texts.empty()) return texts;
  }
  Values out = of_default(call);
  if (!out.empty()) return out;
  if (function.is(k_identifier)) {
    const std::vector<const Binding*> bindings = table_.reaching(function.text(), function);
    if (bindings.empty() && function.text() == "super") return of_super(call);
    const auto defined = [](const Binding* binding) { return binding->how == Binding::How::kFunction; };
    if (!bindings.empty() && std::ranges::all_of(bindings, defined)) {
      for (const Binding* binding : bindings) out.add(returned(binding->node));
      return out;
    }
  }
  for (const Value& value : of(function))
    if (value.is_name() && is_namespace(value))
      out.add(of_dictionary(call));
    else if (value.is_name())
      out.add(known(value.then(Step::call())));
    else
      out.add(unknown_after(value, Step::call()));
  return out;
}

/// An object of the base classes of the class around.
Values Evaluator::of_super(Node call) {
  const Node type = call.above(k_class_definition);
  const Node bases = type ? type.child(Field::k_superclasses) : Node();
  Values out;
  if (!bases) return out;
  for (const Node base : bases.named())
    if (!base.is(k_keyword_argument))
      for (const Value& value : of(base))
        out.add(value.is_name() ? known(value.then(Step::call())) : Values(unknown_after(value, Step::call())));
  return out;
}

Values Evaluator::of_string(Node string) {
  Value value{Value::Root::kText, true, 0, {}, "", {}};
  size_t begin = 0, end = 0;
  for (const Node part : string.children()) {
    if (part.is(k_string_start))
      begin = end = part.end();
    else if (part.is(k_string_content) && begin == part.begin()) {
      end = part.end();
      value.whole = value.whole && part.named().empty();
      if (!part.named().empty()) end = part.named()[0].begin();
    } else if (part.is(k_interpolation))
      value.whole = false;
  }
  value.text = tree_.source().bytes().substr(begin, end - begin);
  value.origin = {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  return value;
}

/// What a function may return; a generator's value is unknown.
Values Evaluator::returned(Node function) {
  if (const auto found = returned_.find(function.index()); found != returned_.end()) return found->second;
  returned_[function.index()] = Value::unknown();  // what calls itself
  const auto statements = returns(function);
  Values out;
  if (!statements) out.add(Value::unknown());
  if (statements && statements->empty()) out.add(Value::constant("None"));
  for (const Node statement : statements.value_or(std::vector<Node>())) {
    const std::vector<Node> value = statement.named();
    if (value.empty())
      out.add(Value::constant("None"));
    else
      out.add(is_row(value[0]) ? Values(Value::unknown()) : of(value[0]));
  }
  return returned_[function.index()] = std::move(out);
}

/// What a function returns as first, second … of a row; empty where not every return gives a row of one length.
std::vector<Values> Evaluator::returned_row(Node function) {
  std::vector<Values> out;
  const auto statements = returns(function);
  if (!statements || depth_ >= kDeepest) return out;
  ++depth_;
  for (const Node statement : *statements) {
    const std::vector<Node> value = statement.named();
    const std::vector<Node> row = !value.empty() && is_row(value[0]) ? value[0].named() : std::vector<Node>();
    if (row.empty() || row.size() > kLongestRow || (!out.empty() && out.size() != row.size())) {
      out.clear();
      break;
    }
    out.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) out[i].add(of(row[i]));
  }
  --depth_;
  return out;
}

}  // namespace npu::migrate
