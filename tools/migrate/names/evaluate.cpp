// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/evaluate.h"

#include <algorithm>

#include "tools/migrate/names/known.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr int kDeepest = 60;         // expressions inside one another; further in, all is unknown
constexpr size_t kLongest = 200;     // bytes of a dotted name
constexpr size_t kMostReturns = 16;  // return statements looked at

Value unknown_after(const Value& value, std::string_view step) {
  const bool way = value.what == Value::What::kUnknown && value.text.size() < kLongest;
  return Value::unknown((way ? value.text : "?") + std::string(step));
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
      table_(tree) {}

/// A dotted name in its one spelling; names of the project are followed.
Values Evaluator::known(std::string name) {
  if (name.size() > kLongest) return Value::unknown();
  if (!name.starts_with(':')) return Value::name(known_names().canonical(std::move(name)));
  return follows_ ? project_.follow(name) : Values(Value::name(std::move(name)));
}

std::string Evaluator::sure_name(Node expression) {
  const Values values = of(expression);
  return values.size() == 1 && values.begin()->is_name() ? values.begin()->text : "";
}

Values Evaluator::of(Node expression) {
  if (!expression) return Value::unknown();
  if (const auto found = done_.find(expression.index()); found != done_.end()) return found->second;
  if (depth_ >= kDeepest) return Value::unknown();
  done_[expression.index()] = Value::unknown();  // what depends on itself
  ++depth_;
  Values out = made(expression);
  --depth_;
  if (out.empty()) out.add(Value::unknown());
  return done_[expression.index()] = std::move(out);
}

Values Evaluator::made(Node node) {
  switch (node.kind()) {
    case k_identifier: return of_name(node);
    case k_dotted_name: {
      Values out;
      return known(std::string(node.text()));
    }
    case k_attribute: return of_attribute(node);
    case k_call: return of_call(node);
    case k_string: return of_string(node);
    case k_concatenated_string: {
      Values first = node.named().empty() ? Values() : of(node.named()[0]);
      Values out;
      for (Value value : first) {
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
        out.add(value.is_text() ? value : Value::unknown());
      }
      return out;
    }
    case k_subscript: return element(of(node.child(Field::k_value)));
    case k_list:
    case k_tuple:
    case k_set:
    case k_expression_list: {
      Values out;
      for (const Node each : node.named())
        for (const Value& value : of(each)) out.add(value);
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

/// An element of a sequence: of what a call gives "[]", of a literal sequence any of its elements.
Values Evaluator::element(const Values& values) {
  Values out;
  for (const Value& value : values) {
    if (value.is_name())
      out.add(known(value.text + "[]"));
    else if (value.is_text())
      out.add(value);
    else
      out.add(unknown_after(value, "[]"));
  }
  return out;
}

Values Evaluator::of_name(Node name) {
  const std::vector<const Binding*> bindings = table_.reaching(name.text(), name);
  if (!bindings.empty()) return of_bindings(bindings);
  Values out;
  for (const Binding& star : table_.stars()) {
    const std::string module = project_.imported(path_, star.dotted, star.level);
    const Values values = known(module + "." + std::string(name.text()));
    // A framework's module gives the name only if it has it, which nobody knows here.
    if (!module.starts_with(':') || values.open()) continue;
    out.add(values);
  }
  if (out.empty() && table_.stars().size() == 1 &&
      !project_.imported(path_, table_.stars()[0].dotted, table_.stars()[0].level).starts_with(':'))
    return known(table_.stars()[0].dotted + "." + std::string(name.text()));
  return out.empty() ? Values(Value::unknown("?")) : out;
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
      return binding.value.is(k_list) || binding.value.is(k_tuple) ? of(binding.value) : element(of(binding.value));
    case Binding::How::kFunction:
    case Binding::How::kClass: return of_definition(binding.node);
    case Binding::How::kParameter: {
      Values out;
      if (binding.type) {
        for (const Value& type : of(binding.type))
          if (type.is_name()) out.add(known(type.text + "()"));
      }
      if (binding.value) out.add(of(binding.value));
      if (out.empty() || binding.value) out.add(Value::unknown());
      return out;
    }
    default: return Value::unknown();
  }
}

Values Evaluator::of_import(const Binding& binding) {
  std::string module = binding.dotted, name;
  if (binding.from) {
    const size_t dot = module.rfind('.');
    name = module.substr(dot == module.npos ? 0 : dot + 1);
    module.resize(dot == module.npos ? 0 : dot);
  }
  module = project_.imported(path_, module, binding.level);
  if (!binding.from) return known(std::move(module));
  return known(module == ":" ? ":" + name : module + "." + name);
}

Values Evaluator::of_definition(Node definition) {
  const std::string name = SymbolTable::qualified(definition);
  return Value::name(module_ == ":" ? ":" + name : module_ + "." + name);
}

/// What an object of this class has as `attribute`.
Values Evaluator::of_self(Node type, std::string_view attribute) {
  Values out;
  const auto& assigned = table_.attributes(type);
  if (const auto found = assigned.find(attribute); found != assigned.end())
    for (const Binding& binding : found->second) out.add(of_binding(binding));
  for (const Binding* binding : table_.all(attribute, type)) out.add(of_binding(*binding));
  if (!out.empty()) return out;
  if (const Node bases = type.child(Field::k_superclasses))
    for (const Node base : bases.named())
      if (!base.is(k_keyword_argument))
        for (const Value& value : of(base))
          out.add(value.is_name() ? known(value.text + "()." + std::string(attribute))
                                  : Values(unknown_after(value, "." + std::string(attribute))));
  return out.empty() ? Values(Value::unknown("?." + std::string(attribute))) : out;
}

Values Evaluator::of_attribute(Node node) {
  const Node object = node.child(Field::k_object);
  const std::string_view attribute = node.child(Field::k_attribute).text();
  if (object.is(k_identifier))
    if (const Node type = table_.class_of_self(object.text(), node)) return of_self(type, attribute);
  Values out;
  const Values objects = of(object);
  for (const Value& value : objects) {
    if (value.what == Value::What::kConstant && objects.size() > 1) continue;  // None until it is set
    if (value.is_name())
      out.add(known(value.text + "." + std::string(attribute)));
    else
      out.add(unknown_after(value, "." + std::string(attribute)));
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
  Values out;
  for (const Value& value : of(function)) {
    if (!value.is_name()) {
      out.add(unknown_after(value, "()"));
      continue;
    }
    Values result = known(value.text + "()");
    // A function of this very file, asked before its exports are there or standing inside another.
    if (value.is_ours() && result.size() == 1 && result.begin()->text == value.text + "()" && function.is(k_identifier))
      for (const Binding* binding : table_.reaching(function.text(), function))
        if (binding->how == Binding::How::kFunction) result = returned(binding->node);
    out.add(result);
  }
  return out;
}

Values Evaluator::of_string(Node string) {
  Value value{Value::What::kText, true, "", {}};
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

/// What a function may return; a generator's and a coroutine's value is unknown.
Values Evaluator::returned(Node function) {
  Values out;
  size_t count = 0;
  const Node body = function.child(Field::k_body);
  for (uint32_t i = body.index(); i < body.past(); ++i) {
    const Node node = tree_.node(i);
    if (node.is(k_yield)) return Value::unknown();
    if ((node.is(k_function_definition) || node.is(k_lambda) || node.is(k_class_definition))) {
      i = node.past() - 1;
      continue;
    }
    if (!node.is(k_return_statement)) continue;
    if (++count > kMostReturns) return Value::unknown();
    const std::vector<Node> value = node.named();
    out.add(value.empty()                    ? Values(Value::constant("None"))
            : value[0].is(k_expression_list) ? Values(Value::unknown())
                                             : of(value[0]));
  }
  return out.empty() ? Values(Value::constant("None")) : out;
}

Exports Evaluator::exports() {
  Exports out;
  out.module = module_;
  const auto telling = [](const Values& values) {
    return std::ranges::any_of(values, [](const Value& value) { return value.is_name() || value.is_text(); });
  };
  const Node root = tree_.root();
  for (const std::string& name : table_.names(root)) {
    const std::vector<const Binding*> bindings = table_.all(name, root);
    const auto defines = [](const Binding* binding) {
      return binding->how == Binding::How::kFunction || binding->how == Binding::How::kClass;
    };
    (std::ranges::any_of(bindings, defines) ? out.defined : out.bound).insert(name);
    Values values;
    for (const Binding* binding : bindings) {
      if (binding->how == Binding::How::kFunction) {
        if (Values result = returned(binding->node); telling(result)) out.names[name + "()"].add(result);
      } else if (binding->how != Binding::How::kClass) {
        values.add(of_binding(*binding));
      }
    }
    if (telling(values)) out.names[name] = std::move(values);
  }
  for (uint32_t i = 0; i < tree_.size(); ++i) {
    const Node type = tree_.node(i);
    if (!type.is(k_class_definition)) continue;
    const std::string name = SymbolTable::qualified(type);
    std::vector<Value>& bases = out.bases[name];
    if (const Node list = type.child(Field::k_superclasses))
      for (const Node base : list.named())
        if (!base.is(k_keyword_argument))
          for (const Value& value : of(base)) bases.push_back(value);
    for (const std::string& attribute : table_.names(type)) {
      const bool method = table_.all(attribute, type)[0]->how == Binding::How::kFunction;
      (method ? out.defined : out.bound).insert(name + "." + attribute);
      for (const Binding* binding : table_.all(attribute, type))
        if (binding->how == Binding::How::kFunction)
          if (Values result = returned(binding->node); telling(result))
            out.names[name + "()." + attribute + "()"].add(result);
      if (Values values = of_self(type, attribute);
          telling(values) && table_.all(attribute, type)[0]->how == Binding::How::kAssign)
        out.names[name + "()." + attribute] = std::move(values);
    }
    for (const auto& [attribute, bindings] : table_.attributes(type)) {
      const std::string own(attribute);
      out.bound.insert(name + "." + own);
      if (Values values = of_self(type, attribute); telling(values)) out.names[name + "()." + own] = std::move(values);
    }
  }
  for (const Binding& star : table_.stars()) out.stars.push_back(project_.imported(path_, star.dotted, star.level));
  return out;
}

}  // namespace npu::migrate
