// SPDX-License-Identifier: Apache-2.0
// Places that are met by what they are for, not by the name of an API: values given to something, comparisons.
#include <algorithm>

#include "tools/migrate/rule/action.h"
#include "tools/migrate/rule/migration.h"

namespace npu::migrate {
namespace {

using enum Kind;

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

/// What is given to something of a name: keyword arguments, defaults, assignments, entries of dictionaries, options of
/// a command line, arguments of the project's own functions.
void Migration::visit_given(Node node) {
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
      const std::vector<std::string> parameters = names_.parameters(node.child(Field::k_function));
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

void Migration::give(std::string_view name, Node value) {
  if (name.empty() || !value) return;
  std::string word(name);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Rule* rule : rules_.meeting(Rule::On::kGiven, word))
    if (rule->needs.empty() || concerns(rule->needs)) apply(*rule, value, true, {});
}

/// Comparisons, and what comes to the same: methods of texts, `match`.
void Migration::visit_compared(Node node) {
  static constexpr std::string_view kMethods[] = {"startswith", "endswith", "replace", "removeprefix", "find", "count"};
  const Node function = node.is(k_call) ? node.child(Field::k_function) : Node();
  const bool asks = function.is(k_attribute) &&
                    std::ranges::find(kMethods, function.child(Field::k_attribute).text()) != std::end(kMethods);
  if (!asks && !node.is(k_comparison_operator) && !node.is(k_match_statement)) return;
  for (const Rule* rule : rules_.meeting(Rule::On::kCompare, "*"))
    if (rule->needs.empty() || concerns(rule->needs)) apply(*rule, node, true, {});
  if (!node.is(k_comparison_operator)) return;
  for (const Node side : node.named())
    if (!side.is(k_string)) meet(Rule::On::kCompare, node, side);
}

}  // namespace npu::migrate
