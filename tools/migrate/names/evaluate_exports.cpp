// SPDX-License-Identifier: Apache-2.0
// What a file shows to the others.
#include <algorithm>

#include "tools/migrate/names/evaluate.h"

namespace npu::migrate {
namespace {

using enum Kind;

bool telling(const Values& values) {
  return std::ranges::any_of(values, [](const Value& value) { return value.is_name() || value.is_text(); });
}

}  // namespace

void Evaluator::export_function(Exports& out, const AccessPath& name, Node function) {
  const AccessPath called = {Step::call()};
  if (Values result = returned(function); telling(result)) out.names[joined(name, called)].add(result);
  const std::vector<Values> row = returned_row(function);
  for (size_t i = 0; i < row.size(); ++i)
    if (telling(row[i])) out.names[joined(name, AccessPath{Step::call(), Step::place(i)})].add(row[i]);
}

void Evaluator::export_class(Exports& out, Node type) {
  const AccessPath name = SymbolTable::qualified(type);
  const auto member = [&](std::string_view attribute) { return joined(name, AccessPath{Step::attribute(attribute)}); };
  const auto of_object = [&](std::string_view attribute) {
    return joined(name, AccessPath{Step::call(), Step::attribute(attribute)});
  };
  std::vector<Value>& bases = out.bases[name];
  if (const Node list = type.child(Field::k_superclasses))
    for (const Node base : list.named())
      if (!base.is(k_keyword_argument))
        for (const Value& value : of(base)) bases.push_back(value);
  for (const std::string& attribute : table_.names(type)) {
    const std::vector<const Binding*> bindings = table_.all(attribute, type);
    const bool method = bindings[0]->how == Binding::How::kFunction && !SymbolTable::is_property(bindings[0]->node);
    (method ? out.defined : out.bound).insert(member(attribute));
    for (const Binding* binding : bindings)
      if (binding->how == Binding::How::kFunction) export_function(out, of_object(attribute), binding->node);
    if (Values values = method ? Values() : of_self(type, attribute); telling(values))
      out.names[of_object(attribute)] = std::move(values);
  }
  for (const auto& [attribute, bindings] : table_.attributes(type)) {
    out.bound.insert(member(attribute));
    if (Values values = of_self(type, attribute); telling(values)) out.names[of_object(attribute)] = std::move(values);
  }
}

Exports Evaluator::exports() {
  Exports out;
  out.module = module_;
  const std::string& bytes = tree_.source().bytes();
  out.tensorflow = bytes.find("tensorflow") != bytes.npos || bytes.find("keras") != bytes.npos;
  const Node root = tree_.root();
  for (const std::string& name : table_.names(root)) {
    const std::vector<const Binding*> bindings = table_.all(name, root);
    const auto defines = [](const Binding* binding) {
      return binding->how == Binding::How::kFunction || binding->how == Binding::How::kClass;
    };
    const AccessPath own = {Step::attribute(name)};
    (std::ranges::any_of(bindings, defines) ? out.defined : out.bound).insert(own);
    Values values;
    for (const Binding* binding : bindings) {
      if (binding->how == Binding::How::kFunction)
        export_function(out, own, binding->node);
      else if (binding->how != Binding::How::kClass)
        values.add(of_binding(*binding));
    }
    // Of a name that may be a function or another thing, the function is one of the things it may be.
    if (telling(values) && std::ranges::any_of(bindings, defines)) values.add(Value::unknown());
    if (telling(values)) out.names[own] = std::move(values);
  }
  for (uint32_t i = 0; i < tree_.size(); ++i)
    if (tree_.node(i).is(k_class_definition)) export_class(out, tree_.node(i));
  export_data(out);
  for (const Binding& star : table_.stars()) out.stars.push_back(project_.imported(path_, star.dotted, star.level));
  out.defined.close();
  out.bound.close();
  return out;
}

}  // namespace npu::migrate
