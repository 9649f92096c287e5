// SPDX-License-Identifier: Apache-2.0
// The vendor's form of rules of one's own: {"rules": {"ArgsModifyRule": [{…}], …}}. Each object becomes a rule of ours.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <regex>

#include "base/json.h"
#include "tools/migrate/rule/rule.h"
#include "tools/migrate/text/source.h"

namespace npu::migrate {
namespace {

/// One object of one class; errors name the file, the class and the object's number.
class Object {
 public:
  Object(const std::string& file, std::string type, size_t number, const Json& value)
      : where_(fmt::format("{}: {} number {}", file, type, number)), value_(value) {
    if (!value.is_object()) refuse("is no object; write it as {\"key\": value, …}");
  }

  [[noreturn]] void refuse(const std::string& text) const { throw Refusal(where_ + " " + text); }

  bool has(const char* key) const { return value_.contains(key); }

  std::string text(const char* key) const {
    if (!has(key)) refuse(fmt::format("has no \"{}\"; add it", key));
    if (!value_[key].is_string()) refuse(fmt::format("has a \"{}\" that is no text; put it in quotes", key));
    return value_[key].get<std::string>();
  }

  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> out;
    if (!has(key)) return out;
    if (value_[key].is_string()) return {text(key)};
    if (!value_[key].is_array()) refuse(fmt::format("has a \"{}\" that is no list of texts; write [\"…\"]", key));
    for (const Json& each : value_[key]) {
      if (!each.is_string()) refuse(fmt::format("has something in \"{}\" that is no text; put it in quotes", key));
      out.push_back(each.get<std::string>());
    }
    return out;
  }

  bool flag(const char* key) const {
    if (!has(key)) return false;
    if (!value_[key].is_boolean()) refuse(fmt::format("has a \"{}\" that is neither true nor false", key));
    return value_[key].get<bool>();
  }

  int number(const char* key) const {
    if (!value_[key].is_number_unsigned()) refuse(fmt::format("has a \"{}\" that is no number from 0 up", key));
    return value_[key].get<int>();
  }

 private:
  std::string where_;
  const Json& value_;
};

std::string last_of(const std::string& name) { return name.substr(name.rfind('.') + 1); }

Action code(const char* name) {
  Action out;
  out.what = Action::What::kCode;
  out.text = name;
  return out;
}

/// A dotted name means itself, another every name that ends so, receivers nobody knows included.
void mean(Rule& rule, const std::string& name) {
  if (name.find('.') != name.npos) {
    rule.names = {name};
    return;
  }
  rule.names = {name, "*." + name};
  rule.unknown = {"." + name};
  rule.unsure = Rule::Unsure::kChange;
}

std::vector<Rule> modified_argument(const Object& object) {
  Rule rule;
  mean(rule, object.text("func_name"));
  Action action = code("vendor-argument");
  if (object.has("arg_idx") == object.has("arg_keyword")) object.refuse("needs either \"arg_idx\" or \"arg_keyword\"");
  if (object.has("arg_idx"))
    action.position = object.number("arg_idx");
  else
    action.key = object.text("arg_keyword");
  action.after = object.text("arg_new");
  for (const std::string& each : object.texts("white_list")) {
    try {
      const std::regex checked(each, std::regex::icase);
    } catch (const std::regex_error&) {
      object.refuse(fmt::format("has \"{}\" in its white_list, which is no regular expression", each));
    }
    action.missing += (action.missing.empty() ? "" : "\n") + each;
  }
  rule.actions = {action};
  rule.what =
      fmt::format("argument {} of {} becomes {}", action.key.empty() ? std::to_string(action.position) : action.key,
                  object.text("func_name"), action.after.empty() ? "nothing" : action.after);
  return {rule};
}

std::vector<Rule> renamed_function(const Object& object) {
  Rule rule;
  mean(rule, object.text("old_name"));
  Action action = code("vendor-function");
  action.after = object.text("new_name");
  if (object.flag("replace_module"))
    action = {Action::What::kCallee, "", action.after, "", "", "", -1};
  else
    action.after = last_of(action.after);
  rule.actions = {action};
  rule.what = fmt::format("{} is called as {}", object.text("old_name"), object.text("new_name"));
  return {rule};
}

std::vector<Rule> renamed_module(const Object& object) {
  const std::string parent = object.has("parent_module") ? object.text("parent_module") : "";
  const std::string before = parent.empty() ? "" : parent + ".";
  const std::string from = before + object.text("old_name"), to = before + object.text("new_name");
  Rule name, import;
  name.on = Rule::On::kName;
  name.names = {from};
  name.actions = {{Action::What::kDotted, "", to, "", "", "", -1}};
  import.on = Rule::On::kImport;
  import.names = {from, from + ".*"};
  import.actions = {{Action::What::kLiteral, from, to, "", "", "", -1}};
  name.what = import.what = fmt::format("{} becomes {}", from, to);
  return {name, import};
}

Rule with_lines(const Object& object) {
  Rule rule;
  rule.on = Rule::On::kFile;
  for (const std::string& line : object.texts("insert_content"))
    (line.starts_with("import ") || line.starts_with("from ") ? rule.imports : rule.lines).push_back(line);
  if (rule.imports.empty() && rule.lines.empty()) object.refuse("has no \"insert_content\"; list the lines to insert");
  return rule;
}

std::vector<Rule> inserted_everywhere(const Object& object) {
  Rule rule = with_lines(object);
  std::vector<std::string> words = object.texts("import_key_word");
  if (words.empty()) words = {"torch"};
  for (const std::string& word : words) rule.names.push_back(word.substr(0, word.find('.')));
  rule.what = fmt::format("files that import {} get more lines at their head", words[0]);
  return {rule};
}

std::vector<Rule> inserted_in_main(const Object& object) {
  Rule rule = with_lines(object);
  rule.names = {"main-file"};
  rule.what = "the file the program begins in gets more lines at its head";
  return {rule};
}

std::vector<Rule> replaced_string(const Object& object) {
  Rule rule;
  rule.on = Rule::On::kFile;
  rule.names = {"*"};
  Action action = code("vendor-string");
  action.key = object.text("str_old");
  action.after = object.text("str_new");
  if (action.key.empty()) object.refuse("has an empty \"str_old\"; name the text to replace");
  action.position = object.flag("strict") ? 1 : 0;
  rule.actions = {action};
  rule.what = fmt::format("the text \"{}\" becomes \"{}\"", action.key, action.after);
  return {rule};
}

std::vector<Rule> replaced_attribute(const Object& object) {
  Rule rule;
  rule.on = Rule::On::kName;
  mean(rule, object.text("old_name"));
  rule.actions = {{Action::What::kAttribute, "", last_of(object.text("new_name")), "", "", "", -1}};
  rule.what = fmt::format("the attribute {} becomes {}", object.text("old_name"), object.text("new_name"));
  return {rule};
}

using Reader = std::function<std::vector<Rule>(const Object&)>;

const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> made = {
      {"ArgsModifyRule", modified_argument},       {"FuncNameModifyRule", renamed_function},
      {"ModuleNameModifyRule", renamed_module},    {"InsertGlobalRule", inserted_everywhere},
      {"InsertMainFileRule", inserted_in_main},    {"ReplaceStringRule", replaced_string},
      {"ReplaceAttributeRule", replaced_attribute}};
  return made;
}

/// The features that each copy of a rule asks for; one copy without any where it applies always.
std::vector<std::set<std::string>> switches(const Object& object) {
  std::vector<std::set<std::string>> out;
  for (const std::string& each : object.texts("feature_switch")) {
    if (each == "specify_device")
      out.push_back({"specify-device"});
    else if (each == "distributed")
      out.push_back({"distributed"});
    else if (each == "normal" || (!each.empty() && each.find_first_not_of("0123456789.") == each.npos))
      return {{}};  // any version: the rules are the same for all
    else
      object.refuse(
          fmt::format("has \"{}\" in its feature_switch; there are normal, specify_device, distributed and "
                      "versions of torch",
                      each));
  }
  return out.empty() ? std::vector<std::set<std::string>>{{}} : out;
}

}  // namespace

void RuleBook::read_vendor(const std::string& file, std::string_view text) {
  Json all;
  try {
    all = Json::parse(text);
  } catch (const JsonParseError& error) {
    throw Refusal(fmt::format("{}: is no JSON at its byte {}; mend it there", file, error.byte()));
  }
  if (!all.is_object() || !all.contains("rules") || !all["rules"].is_object())
    throw Refusal(
        fmt::format("{}: has no object \"rules\"; write {{\"rules\": {{\"FuncNameModifyRule\": [...]}}}}", file));
  for (const auto& [type, list] : all["rules"].items()) {
    const auto reader = readers().find(type);
    if (reader == readers().end()) {
      std::vector<std::string> known;
      for (const auto& [name, function] : readers()) known.push_back(name);
      throw Refusal(fmt::format("{}: there is no class of rules {}; there are {}", file, type, fmt::join(known, ", ")));
    }
    if (!list.is_array()) throw Refusal(fmt::format("{}: {} is no list; write [{{…}}]", file, type));
    for (size_t i = 0; i < list.size(); ++i) {
      const Object object(file, type, i + 1, list[i]);
      size_t copy = 0;
      for (const std::set<std::string>& when : switches(object))
        for (Rule rule : reader->second(object)) {
          rule.id = fmt::format("{}#{}-{}{}", last_of(file) == "json" ? file.substr(file.rfind('/') + 1) : file, type,
                                i + 1, copy == 0 ? "" : fmt::format(".{}", copy));
          ++copy;
          rule.why = "a rule of your own, from " + file;
          rule.when = when;
          rules_.push_back(std::move(rule));
        }
    }
  }
}

}  // namespace npu::migrate
