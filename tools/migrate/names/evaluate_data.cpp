// SPDX-License-Identifier: Apache-2.0
// Values that pass through data: entries of dictionaries, options of command lines, arguments of functions.
#include <algorithm>

#include "tools/migrate/names/evaluate.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr size_t kMostCalls = 16;    // of one function, looked at
constexpr size_t kMostEntries = 64;  // of a dictionary, shown to other modules
constexpr size_t kLongestKey = 60;
constexpr size_t kLongestText = 40;  // a device's name, not a sentence

/// What a plain string says, "" of anything else.
std::string_view plain(Node string) {
  if (!string.is(k_string)) return "";
  std::string_view out;
  for (const Node part : string.named()) {
    if (part.is(k_interpolation)) return "";
    if (part.is(k_string_content)) out = part.text();
  }
  return out;
}

std::string_view last_name(Node callee) {
  return callee.is(k_attribute) ? callee.child(Field::k_attribute).text() : callee.text();
}

Node keyword(Node list, std::string_view name) {
  for (const Node each : list.named())
    if (each.is(k_keyword_argument) && each.child(Field::k_name).text() == name) return each.child(Field::k_value);
  return {};
}

/// Keys and values of a dictionary, or of a call with keywords.
std::vector<std::pair<std::string_view, Node>> entries(Node node) {
  std::vector<std::pair<std::string_view, Node>> out;
  for (const Node each : (node.is(k_call) ? node.child(Field::k_arguments) : node).named()) {
    if (each.is(k_pair)) out.emplace_back(plain(each.child(Field::k_key)), each.child(Field::k_value));
    if (each.is(k_keyword_argument)) out.emplace_back(each.child(Field::k_name).text(), each.child(Field::k_value));
  }
  return out;
}

Values texts(const Values& values) {
  Values out;
  for (const Value& value : values)
    if (value.is_text()) out.add(value);
  return out;
}

std::string_view name_of(Node parameter) {
  if (parameter.is(k_identifier)) return parameter.text();
  if (parameter.is(k_default_parameter) || parameter.is(k_typed_default_parameter))
    return parameter.child(Field::k_name).text();
  if (parameter.is(k_typed_parameter) && !parameter.named().empty() && parameter.named()[0].is(k_identifier))
    return parameter.named()[0].text();
  return "";
}

Node class_of(Node function) {
  Node above = function.parent();
  if (above.is(k_decorated_definition)) above = above.parent();
  return above.is(k_block) && above.parent().is(k_class_definition) ? above.parent() : Node();
}

/// Positional parameters by name; the object or class a method belongs to is left out.
std::vector<std::string> parameter_names(Node function) {
  std::vector<std::string> out;
  for (const Node each : function.child(Field::k_parameters).named()) {
    const std::string_view name = name_of(each);
    if (name.empty()) break;
    out.emplace_back(name);
  }
  const Node above = function.parent();
  const bool is_static = above.is(k_decorated_definition) && above.text().starts_with("@staticmethod");
  if (class_of(function) && !is_static && !out.empty()) out.erase(out.begin());
  return out;
}

/// x.parse_args(), or the first of x.parse_known_args().
bool is_parsed(const Value& value) {
  Steps path = value.path;
  const bool known = !path.empty() && path.back() == Step::element();
  if (known) path = path.first(path.size() - 1);
  if (path.size() < (value.is_unknown() ? 2 : 3) || path.back() != Step::call()) return false;
  return path[path.size() - 2] == Step::attribute(known ? "parse_known_args" : "parse_args");
}

/// Whether it is this dictionary and nothing else: one of this file, since the number is that of a node.
bool makes(const Values& values, const Step& dictionary) {
  return values.size() == 1 && values.begin()->is_ours() && values.begin()->path.back() == dictionary;
}

/// Names that an object of parsed options goes by where it is a parameter.
bool is_options_name(std::string_view name) {
  static constexpr std::string_view kNames[] = {"args", "opt", "opts", "options", "flags", "FLAGS", "hparams", "conf"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace

Value Evaluator::of_dictionary(Node node) const {
  return Value::project(joined(module_, AccessPath{Step::dictionary(node.index())}));
}

/// Of a dictionary of this file, by its key; of another file's, what that file shows. Any entry where key is "".
Values Evaluator::of_entry(const Value& dictionary, std::string_view key) {
  const auto is_dictionary = [](const Step& step) { return step.how == Step::How::kDictionary; };
  const Steps path = dictionary.path;
  const auto found = std::ranges::find_if(path, is_dictionary);
  if (!dictionary.is_ours() || found == path.end()) return {};
  if (!std::ranges::equal(path.first(static_cast<size_t>(found - path.begin())), module_))
    return key.empty() || !follows_ ? Values() : project_.follow(dictionary.then(Step::entry(key)));
  if (found + 1 != path.end() || found->number >= tree_.size()) return {};
  Values out;
  for (const auto& [name, value] : entries(tree_.node(found->number)))
    if (key.empty() || name == key) out.add(of(value));
  return out;
}

Values Evaluator::of_subscript(Node node) {
  const Values values = of(node.child(Field::k_value));
  const std::string_view key = plain(node.child(Field::k_subscript));
  Values out;
  for (const Value& value : values) {
    const Values entry = of_entry(value, key);
    out.add(entry.empty() ? element(Values(value)) : entry);
  }
  return out;
}

std::string Evaluator::option(Node call) {
  const Node list = call.child(Field::k_arguments);
  const std::string_view callee = last_name(call.child(Field::k_function));
  const bool absl = callee == "DEFINE_string" || callee == "DEFINE_enum";
  if (!list.is(k_argument_list) || !(absl || callee == "add_argument" || callee == "option")) return "";
  std::string_view name = plain(keyword(list, "dest"));
  for (const Node each : list.named()) {
    const std::string_view word = plain(each);
    if (name.empty() && (word.starts_with("--") || absl)) name = word;
  }
  while (name.starts_with('-')) name.remove_prefix(1);
  std::string out(name);
  std::ranges::replace(out, '-', '_');
  return out;
}

void Evaluator::index_calls() {
  if (indexed_) return;
  indexed_ = true;
  for (uint32_t i = 0; i < tree_.size(); ++i) {
    const Node call = tree_.node(i);
    if (!call.is(k_call) || !call.child(Field::k_arguments).is(k_argument_list)) continue;
    std::vector<Node>& calls = calls_[std::string(last_name(call.child(Field::k_function)))];
    if (calls.size() < kMostCalls) calls.push_back(call);
    if (const std::string name = option(call); !name.empty())
      for (const char* word : {"default", "choices", "const"})
        if (const Node value = keyword(call.child(Field::k_arguments), word)) options_[name].push_back(value);
  }
}

/// `args.device` where `args` holds parsed options: what the option may be, by default or by choice.
Values Evaluator::of_option(const Value& object, Node node) {
  const std::string attribute(node.child(Field::k_attribute).text());
  if (const Values entry = of_entry(object, attribute); !entry.empty()) return entry;
  const Node name = node.child(Field::k_object);
  const bool parsed =
      is_parsed(object) || (object.is_unknown() && name.is(k_identifier) && is_options_name(name.text()));
  if (!parsed) return {};
  index_calls();
  const auto found = options_.find(attribute);
  if (found == options_.end()) return {};
  Values out;
  for (const Node value : found->second) out.add(texts(of(value)));
  if (!out.empty()) out.add(Value::unknown({Step::attribute(attribute)}));
  return out;
}

/// `x.get("device", "cuda")`, `getattr(args, "device", "cuda")`, `os.getenv(…, "cuda")`: the text given for lack of
/// another, or unknown.
Values Evaluator::of_default(Node call) {
  const Node function = call.child(Field::k_function), list = call.child(Field::k_arguments);
  const std::string_view name = last_name(function);
  if (name != "get" && name != "pop" && name != "setdefault" && name != "getattr" && name != "getenv") return {};
  const std::vector<Node> arguments = list.is(k_argument_list) ? list.named() : std::vector<Node>();
  const size_t at = name == "getattr" ? 2 : 1;
  Values out;
  if (function.is(k_attribute) && !arguments.empty())
    for (const Value& value : of(function.child(Field::k_object))) out.add(of_entry(value, plain(arguments[0])));
  if (arguments.size() == at + 1) out.add(texts(of(arguments[at])));
  if (!out.empty()) out.add(Value::unknown());
  return out;
}

/// Texts that calls in this file pass to a parameter.
Values Evaluator::passed(const Binding& parameter) {
  Node function = parameter.node;
  while (function && !function.is(k_function_definition) && !function.is(k_lambda)) function = function.parent();
  if (!function.is(k_function_definition)) return {};
  index_calls();
  const Node type = class_of(function);
  const std::string_view own = function.child(Field::k_name).text();
  const std::string_view called = type && own == "__init__" ? type.child(Field::k_name).text() : own;
  const auto found = calls_.find(std::string(called));
  if (found == calls_.end()) return {};
  const std::vector<std::string> names = parameter_names(function);
  const size_t at = std::ranges::find(names, parameter.node.text()) - names.begin();
  Values out;
  for (const Node call : found->second) {
    const std::vector<Node> arguments = call.child(Field::k_arguments).named();
    const auto positional = [](Node node) { return !node.is(k_keyword_argument) && !node.is(k_list_splat); };
    if (at < arguments.size() && std::all_of(arguments.begin(), arguments.begin() + at + 1, positional))
      out.add(texts(of(arguments[at])));
    if (const Node value = keyword(call.child(Field::k_arguments), parameter.node.text())) out.add(texts(of(value)));
  }
  return out;
}

std::vector<std::string> Evaluator::parameters(Node function) {
  for (const Value& value : of(function))
    if (value.is_ours()) return project_.parameters(value);
  return {};
}

void Evaluator::export_data(Exports& exports) {
  for (uint32_t i = 0; i < tree_.size(); ++i) {
    const Node node = tree_.node(i);
    if (node.is(k_function_definition)) {
      if (const std::vector<std::string> names = parameter_names(node); !names.empty()) {
        std::vector<Word>& words = exports.parameters[SymbolTable::qualified(node)];
        words.clear();
        words.reserve(names.size());
        for (const std::string& name : names) words.emplace_back(name);
      }
      continue;
    }
    const Step dictionary = Step::dictionary(node.index());
    if (!node.is(k_dictionary) && !(node.is(k_call) && makes(of(node), dictionary))) continue;
    const std::vector<std::pair<std::string_view, Node>> all = entries(node);
    if (all.size() > kMostEntries) continue;
    for (const auto& [key, value] : all) {
      if (key.empty() || key.size() > kLongestKey || key.find('.') != key.npos) continue;
      Values values = of(value);
      if (std::ranges::any_of(values, [](const Value& each) {
            return (each.is_text() && each.text.size() <= kLongestText) || each.is_ours();
          }))
        exports.names[{dictionary, Step::entry(key)}] = std::move(values);
    }
  }
}

}  // namespace npu::migrate
