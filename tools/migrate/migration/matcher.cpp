// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/matcher.h"

#include <algorithm>
#include <set>

#include "tools/migrate/migration/application.h"
#include "tools/migrate/migration/argument.h"
#include "tools/migrate/names/known.h"

namespace npu::migrate {
namespace {

using enum Kind;

/// An identifier that is read here, not bound, declared, or only a word of the grammar.
bool is_read(Node name) {
  const Node parent = name.parent();
  switch (parent.kind()) {
    case k_keyword_argument:
    case k_default_parameter:
    case k_typed_default_parameter: return name.field() != Field::k_name;
    case k_attribute: return name.field() != Field::k_attribute;
    case k_function_definition:
    case k_class_definition:
    case k_parameters:
    case k_lambda_parameters:
    case k_typed_parameter:
    case k_global_statement:
    case k_nonlocal_statement:
    case k_dotted_name:
    case k_aliased_import:
    case k_pattern_list:
    case k_tuple_pattern:
    case k_list_pattern:
    case k_list_splat_pattern:
    case k_dictionary_splat_pattern:
    case k_splat_pattern:
    case k_keyword_pattern:
    case k_delete_statement:
    case k_as_pattern_target: return false;
    case k_named_expression: return name.field() != Field::k_name;
    case k_assignment:
    case k_augmented_assignment:
    case k_for_statement:
    case k_for_in_clause: return name.field() != Field::k_left;
    default: return true;
  }
}

std::string_view last_name(Node callee) {
  return callee.is(k_attribute) ? callee.child(Field::k_attribute).text() : callee.text();
}

/// What a plain string says, "" of anything else.
std::string_view literal_text(Node node) {
  if (!node.is(k_string)) return "";
  std::string_view out;
  for (const Node part : node.named()) {
    if (part.is(k_interpolation)) return "";
    if (part.is(k_string_content)) out = part.text();
  }
  return out;
}

}  // namespace

void Matcher::meet_file(Rule::On on) {
  std::vector<const Rule*> rules;
  std::set<std::string> asked = script().frameworks();
  if (script().concerns("torch")) asked.insert("torch");
  if (script().is_entry()) asked.insert("main-file");
  if (script().begins_tensorflow()) asked.insert("tensorflow-program");
  const auto of_keras = [](const Use& use) { return use.name.find(".keras.") != use.name.npos; };
  // tf.losses of TensorFlow 1 is no Keras, whatever its name means in TensorFlow 2.
  if (std::ranges::any_of(migration_.ledger.uses(), of_keras) &&
      script().source().bytes().find("keras") != std::string::npos)
    asked.insert("tensorflow.keras");
  for (const std::string& name : asked)
    for (const Rule* rule : rules_.meeting(on, name))
      if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
  for (const Rule* rule : rules) apply(migration_, *rule, {tree().root()});
}

void Matcher::meet_places() {
  // Imports come last: whether one may go depends on what became of its uses.
  const auto imports = [](Node node) { return node.is(k_import_statement) || node.is(k_import_from_statement); };
  for (uint32_t i = 0; i < tree().size(); ++i)
    if (!imports(tree().node(i))) visit(tree().node(i));
  for (uint32_t i = 0; i < tree().size(); ++i) visit_given(tree().node(i));
  for (uint32_t i = 0; i < tree().size(); ++i)
    visit_compared(tree().node(i));  // by then it is known what literals mean
  for (uint32_t i = 0; i < tree().size(); ++i)
    if (imports(tree().node(i))) visit(tree().node(i));
}

void Matcher::meet(Rule::On on, Node node, Node asked) {
  const Values& values = names().of(asked);
  std::vector<const Rule*> rules;
  spelled_.resize(std::max(spelled_.size(), values.size()));
  for (size_t i = 0; const Value& value : values) {
    value.spell_into(spelled_[i]);
    for (const Rule* rule : rules_.meeting(on, spelled_[i++]))
      if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
  }
  for (const Rule* rule : rules) {
    size_t yes = 0, perhaps = 0;
    for (size_t i = 0; const Value& value : values) {
      const Meant how = meant(*rule, value, spelled_[i++]);
      yes += how == Meant::kYes;
      perhaps += how == Meant::kPerhaps;
    }
    if (on == Rule::On::kCompare && rule->names[0] == "*") continue;  // visit_compared() asks those
    if (yes + perhaps == 0 || (yes == 0 && !rule->needs.empty() && !script().concerns(rule->needs))) continue;
    apply(migration_, *rule, {node, yes == values.size(), &values});
  }
}

void Matcher::record_use(Node node) {
  const Values& values = names().of(node);
  if (values.size() != 1 || !values.begin()->is_name()) return;
  const Value& value = *values.begin();
  const auto attribute = [](const Step& step) { return step.how == Step::How::kAttribute; };
  if (!value.is_library() || value.path.size() < 2 || !std::ranges::all_of(value.path, attribute)) return;
  if (known_names().is_root(value.path[0].name.text())) migration_.ledger.use(node, value.spelled());
}

void Matcher::visit(Node node) {
  switch (node.kind()) {
    case k_call: return meet(Rule::On::kCall, node, node.child(Field::k_function));
    case k_attribute:
    case k_identifier: {
      if (node.is(k_identifier) && !is_read(node)) return;
      const Node parent = node.parent();
      if (!(parent.is(k_attribute) && node.field() == Field::k_object)) record_use(node);
      return meet(Rule::On::kName, node, node);
    }
    case k_subscript: return meet(Rule::On::kSubscript, node, node.child(Field::k_value));
    case k_function_definition: {
      for (const Rule* rule : rules_.meeting(Rule::On::kDefine, node.child(Field::k_name).text()))
        if (rule->needs.empty() || script().concerns(rule->needs)) apply(migration_, *rule, {node});
      return;
    }
    case k_import_statement:
    case k_import_from_statement: return visit_import(node);
    default: return;
  }
}

void Matcher::visit_import(Node node) {
  const Node module = node.child(Field::k_module_name);
  std::set<const Rule*> noted;  // once for the module and its names
  const auto ask = [&](Node at, const std::string& dotted) {
    const Value name = Value::library(spelled_path(dotted));
    for (const Rule* rule : rules_.meeting(Rule::On::kImport, dotted))
      if (meant(*rule, name, dotted) != Meant::kNo && (rule->report.empty() || noted.insert(rule).second))
        apply(migration_, *rule, {at});
  };
  if (module.is(k_dotted_name)) ask(module, std::string(module.text()));
  if (module.is(k_relative_import)) return;
  for (const Node each : node.children(Field::k_name)) {
    const Node name = each.is(k_aliased_import) ? each.child(Field::k_name) : each;
    ask(name, (module ? std::string(module.text()) + "." : "") + std::string(name.text()));
  }
}

/// What is given to something of a name: keyword arguments, defaults, assignments, entries of dictionaries, options of
/// a command line, arguments of the project's own functions.
void Matcher::visit_given(Node node) {
  switch (node.kind()) {
    case k_keyword_argument: return give(node.child(Field::k_name).text(), node.child(Field::k_value));
    case k_default_parameter:
    case k_typed_default_parameter: return give(node.child(Field::k_name).text(), node.child(Field::k_value));
    case k_pair: return give(literal_text(node.child(Field::k_key)), node.child(Field::k_value));
    case k_assignment: {
      const Node left = node.child(Field::k_left), right = node.child(Field::k_right);
      if (left.is(k_identifier)) return give(left.text(), right);
      if (left.is(k_attribute)) return give(left.child(Field::k_attribute).text(), right);
      if (left.is(k_subscript)) return give(literal_text(left.child(Field::k_subscript)), right);
      return;
    }
    case k_call: {
      const std::vector<std::string> parameters = names().parameters(node.child(Field::k_function));
      const Arguments arguments(node);
      for (size_t i = 0; i < parameters.size(); ++i)
        if (const Node value = arguments.at(static_cast<int>(i))) give(parameters[i], value);
      if (const std::string option = Evaluator::option(node); !option.empty())
        for (const char* word : {"default", "choices", "const"})
          if (const Node value = arguments.value(-1, word)) give(option, value);
      const std::string_view method = last_name(node.child(Field::k_function));
      const int key = method == "getattr" ? 1 : 0;
      if (method == "get" || method == "pop" || method == "setdefault" || method == "getattr")
        if (const Node word = arguments.at(key)) give(literal_text(word), arguments.at(key + 1));
      return;
    }
    default: return;
  }
}

void Matcher::give(std::string_view name, Node value) {
  if (name.empty() || !value) return;
  std::string word(name);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Rule* rule : rules_.meeting(Rule::On::kGiven, word))
    if (rule->needs.empty() || script().concerns(rule->needs)) apply(migration_, *rule, {value});
}

/// Comparisons, and what comes to the same: methods of texts, `match`.
void Matcher::visit_compared(Node node) {
  static constexpr std::string_view kMethods[] = {"startswith", "endswith", "replace", "removeprefix", "find", "count"};
  const Node function = node.is(k_call) ? node.child(Field::k_function) : Node();
  const bool asks = function.is(k_attribute) &&
                    std::ranges::find(kMethods, function.child(Field::k_attribute).text()) != std::end(kMethods);
  if (!asks && !node.is(k_comparison_operator) && !node.is(k_match_statement)) return;
  for (const Rule* rule : rules_.meeting(Rule::On::kCompare, "*"))
    if (rule->needs.empty() || script().concerns(rule->needs)) apply(migration_, *rule, {node});
  if (!node.is(k_comparison_operator)) return;
  for (const Node side : node.named())
    if (!side.is(k_string)) meet(Rule::On::kCompare, node, side);
}

}  // namespace npu::migrate
