// SPDX-License-Identifier: Apache-2.0
#include "acl/singleop/operator_type.h"

#include <algorithm>
#include <unordered_map>

#include "acl/singleop/function.h"
#include "base/error.h"
#include "base/split.h"

namespace npu::acl {
namespace {

// The table is text in the library: read once, at the first use, and checked whole.
struct TypeRow {
  std::string_view type, inputs, outputs, attributes, name;
  std::string_view bind = {};
};
constexpr TypeRow kRows[] = {
#include "operator_types.inc"  // made of acl/singleop/operator_types.tsv
};

// Marks stand around a name in a fixed order: those in front say what it is for, those behind how often it comes.
bool take(std::string_view& text, char mark, bool front) {
  if (text.empty() || (front ? text.front() : text.back()) != mark) return false;
  front ? text.remove_prefix(1) : text.remove_suffix(1);
  return true;
}

Slot parse_slot(std::string_view text) {
  Slot slot;
  if (take(text, '_', true)) slot.use = Slot::Use::kIgnored;
  if (take(text, '!', true)) slot.use = Slot::Use::kRefused;
  // What is refused may be left out, or the type could not be called at all.
  slot.optional = take(text, '?', false) || slot.use == Slot::Use::kRefused;
  slot.list = take(text, '*', false);
  slot.name = text;
  return slot;
}

std::vector<Slot> parse_slots(std::string_view text) {
  std::vector<Slot> slots;
  for (const std::string_view word : split(text, " ")) slots.push_back(parse_slot(word));
  // Of two lists in a row nobody could tell where one ends.
  const auto lists = std::count_if(slots.begin(), slots.end(), [](const Slot& slot) { return slot.list; });
  require(lists <= 1, "'{}' has {} lists; their lengths could not be told apart", text, lists);
  return slots;
}

AttributeRule parse_attribute(std::string_view text) {
  AttributeRule rule;
  rule.ignored = take(text, '_', true);
  const size_t mark = text.find_first_of(":=");
  rule.name = text.substr(0, mark);
  if (mark == std::string_view::npos) return rule;
  rule.value = text.substr(mark + 1);
  rule.fixed = text[mark] == '=';
  return rule;
}

std::vector<AttributeRule> parse_attributes(std::string_view text) {
  std::vector<AttributeRule> rules;
  for (const std::string_view word : split(text, " ")) rules.push_back(parse_attribute(word));
  return rules;
}

/// `name`, `'constant'` or `function(name,…)`.
/// A constant, a name, or a function of names: one level, as values are not computed here.
void parse_source(std::string_view text, FieldSource& source) {
  if (take(text, '\'', true)) {
    require(take(text, '\'', false), "the constant {} is not closed", text);
    source.constant = true;
    source.names = {text};
    return;
  }
  const size_t open = text.find('(');
  if (open == std::string_view::npos) {
    source.names = {text};
    return;
  }
  source.function = text.substr(0, open);
  require(take(text, ')', false), "{} is not closed", source.function);
  source.names = split(text.substr(open + 1), ",");
  check_function(source.function, source.names.size());
}

bool has_name(const OperatorType& type, std::string_view name) {
  const auto named = [&](const auto& entry) { return entry.name == name; };
  return std::any_of(type.inputs.begin(), type.inputs.end(), named) ||
         std::any_of(type.outputs.begin(), type.outputs.end(), named) ||
         std::any_of(type.attributes.begin(), type.attributes.end(), named);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("-0123456789") == std::string_view::npos;
}

// What the bind column says of fields, in its order; then every field whose name an input, output or attribute has.
std::vector<FieldSource> parse_bind(const OperatorType& type, std::string_view text) {
  std::vector<FieldSource> sources;
  for (const std::string_view word : split(text, " ")) {
    const size_t equals = word.find('=');
    require(equals != std::string_view::npos, "'{}' lacks '='", word);
    const std::string_view field = word.substr(0, equals);
    sources.push_back({.field = type.def->field(field), .function = {}, .names = {}});
    require(sources.back().field != nullptr, "operator {} has no field {}", type.def->name, field);
    parse_source(word.substr(equals + 1), sources.back());
  }
  // Bound fields first, in the order of the table; the others go by their names.
  for (const ops::Field& field : type.def->fields) {
    const bool bound =
        std::any_of(sources.begin(), sources.end(), [&](const FieldSource& s) { return s.field->name == field.name; });
    if (!bound && has_name(type, field.name))
      sources.push_back({.field = &field, .function = {}, .names = {field.name}});
  }
  return sources;
}

bool used(const OperatorType& type, std::string_view name) {
  return std::any_of(type.fields.begin(), type.fields.end(), [&](const FieldSource& source) {
    return !source.constant && std::find(source.names.begin(), source.names.end(), name) != source.names.end();
  });
}

void mark_memory(OperatorType& type) {
  // A strided view reaches beyond the sizes that the client describes, so its tensor is all of the memory.
  for (auto* slots : {&type.inputs, &type.outputs})
    for (Slot& slot : *slots)
      slot.memory = std::any_of(type.fields.begin(), type.fields.end(), [&](const FieldSource& source) {
        return source.function == "strided" && source.names.front() == slot.name;
      });
}

// A name that nobody reads is a mistake in the table: what it says would silently not happen.
void check_names(const OperatorType& type) {
  for (const FieldSource& source : type.fields)
    for (const std::string_view name : source.names)
      require(source.constant || is_number(name) || has_name(type, name), "nothing is called {}", name);
  for (const auto* slots : {&type.inputs, &type.outputs})
    for (const Slot& slot : *slots)
      require(slot.use != Slot::Use::kRead || used(type, slot.name), "{} reaches no field; write _{}", slot.name,
              slot.name);
  for (const AttributeRule& rule : type.attributes)
    require(rule.ignored || rule.fixed || used(type, rule.name), "attribute {} reaches no field; write _{}", rule.name,
            rule.name);
}

void check_fields(const OperatorType& type) {
  // What an operator cannot do without must come from somewhere.
  for (const ops::Field& field : type.def->fields) {
    const bool needed =
        field.role == ops::FieldRole::kIn || field.role == ops::FieldRole::kOut || field.role == ops::FieldRole::kInOut;
    const bool filled = std::any_of(type.fields.begin(), type.fields.end(),
                                    [&](const FieldSource& s) { return s.field->name == field.name; });
    require(!needed || filled, "nothing fills field {} of operator {}", field.name, type.def->name);
  }
}

using Table = std::unordered_map<std::string_view, std::vector<OperatorType>>;
const Table& table() {
  // Never destroyed: operators may be called while the process ends.
  static const Table& types = *[] {
    auto made = std::make_unique<Table>();
    // All mistakes of the table in one text: it is read in tests, not by clients.
    std::string problems;
    for (const TypeRow& row : kRows) {
      try {
        (*made)[row.type].push_back(parse_type(row.type, row.inputs, row.outputs, row.attributes, row.name, row.bind));
      } catch (const Error& error) {
        problems += fmt::format("{}: {}\n", row.type, error.message());
      }
    }
    if (!problems.empty()) fail(Code::kInternal, "operator_types.tsv\n{}", problems);
    return made.release();
  }();
  return types;
}

}  // namespace

OperatorType parse_type(std::string_view type, std::string_view inputs, std::string_view outputs,
                        std::string_view attributes, std::string_view name, std::string_view bind) {
  OperatorType made;
  made.type = type;
  made.inputs = parse_slots(inputs);
  made.outputs = parse_slots(outputs);
  made.attributes = parse_attributes(attributes);
  made.def = ops::find_operator(name);
  require(made.def != nullptr, "there is no operator {}", name);
  made.fields = parse_bind(made, bind);
  mark_memory(made);
  check_names(made);
  check_fields(made);
  return made;
}

std::vector<const OperatorType*> find_operator_type(std::string_view type) {
  std::vector<const OperatorType*> rows;
  if (const auto found = table().find(type); found != table().end())
    for (const OperatorType& row : found->second) rows.push_back(&row);
  return rows;
}

std::vector<const OperatorType*> operator_types() {
  std::vector<const OperatorType*> types;
  for (const auto& entry : table()) types.push_back(&entry.second.front());
  // By name, as a hash table has no order of its own.
  std::sort(types.begin(), types.end(), [](auto* a, auto* b) { return a->type < b->type; });
  return types;
}

std::string types_like(std::string_view type) {
  std::string text;
  for (const OperatorType* known : operator_types()) {
    // Four letters: enough to find neighbours, few enough to forgive an ending.
    const size_t n = std::min<size_t>(4, std::min(type.size(), known->type.size()));
    if (n > 0 && type.substr(0, n) == known->type.substr(0, n))
      text += (text.empty() ? "" : ", ") + std::string(known->type);
  }
  return text.empty() ? fmt::format("none of the {} known types begins like it", table().size())
                      : "known types that begin like it: " + text;
}

}  // namespace npu::acl
