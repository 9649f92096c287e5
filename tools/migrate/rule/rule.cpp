// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/rule/rule.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/migrate/names/known.h"
#include "tools/migrate/text/built_in.h"
#include "tools/migrate/text/source.h"

namespace npu::migrate {
namespace {

constexpr std::string_view kSupport = "support:";

/// Names of support/tensorflow.tsv with this support, "removed" for one.
std::vector<std::string> names_with_support(std::string_view support) {
  std::vector<std::string> out;
  for (std::string_view rest = built_in("tensorflow.tsv"); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const size_t tab = line.find('\t');
    if (line.starts_with('#') || tab == line.npos) continue;
    if (line.substr(tab + 1).substr(0, support.size() + 1) == std::string(support) + '\t')
      out.emplace_back(line.substr(0, tab));
  }
  return out;
}

/// Names that the list has below tensorflow.compat.v1 only, as scripts of TensorFlow 1 spell them.
std::vector<std::string> names_of_v1() {
  constexpr std::string_view kV1 = "tensorflow.compat.v1.", kRoot = "tensorflow.";
  std::vector<std::string> out;
  std::set<std::string_view> known;
  for (std::string_view rest = built_in("tensorflow.tsv"); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n')), name = line.substr(0, line.find('\t'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    known.insert(name);
    if (name.starts_with(kV1)) out.push_back(std::string(kRoot) + std::string(name.substr(kV1.size())));
  }
  std::erase_if(out,
                [&](const std::string& name) { return known.contains(name) || known_names().canonical(name) != name; });
  return out;
}

/// One file being read; errors name the file, the line and what may stand there.
class Reader {
 public:
  Reader(const std::string& file, std::string_view text) : file_(file), root_(load(std::string(text))) {}

  std::vector<Rule> rules() const {
    if (!root_.IsMap() || !root_["rules"] || !root_["rules"].IsSequence())
      refuse(root_, "has no list `rules`; see tools/migrate/rules/README.md");
    std::vector<Rule> out;
    for (const YAML::Node& each : root_["rules"]) out.push_back(rule(each));
    return out;
  }

 private:
  YAML::Node load(const std::string& text) const try { return YAML::Load(text); } catch (const YAML::Exception& error) {
    throw Refusal(fmt::format("{}:{}: is no YAML ({})", file_, error.mark.line + 1, error.msg));
  }

  [[noreturn]] void refuse(const YAML::Node& node, const std::string& text) const {
    throw Refusal(fmt::format("{}:{}: {}", file_, node.Mark().line + 1, text));
  }

  std::string text(const YAML::Node& node) const {
    if (!node.IsScalar()) refuse(node, "a text is wanted here");
    return node.Scalar();
  }

  /// Names; "support:removed" are those that the list of supported APIs tells so of, "support:v1" those it has for
  /// TensorFlow 1 only.
  std::vector<std::string> names(const YAML::Node& node) const {
    std::vector<std::string> out;
    for (const std::string& each : texts(node)) {
      if (!each.starts_with(kSupport)) {
        out.push_back(each);
        continue;
      }
      const std::string_view support = std::string_view(each).substr(kSupport.size());
      const std::vector<std::string> listed = support == "v1" ? names_of_v1() : names_with_support(support);
      if (listed.empty()) refuse(node, fmt::format("the list of supported APIs has no names for `{}`", each));
      out.insert(out.end(), listed.begin(), listed.end());
    }
    return out;
  }

  std::vector<std::string> texts(const YAML::Node& node) const {
    if (!node.IsSequence()) return {text(node)};
    std::vector<std::string> out;
    for (const YAML::Node& each : node) out.push_back(text(each));
    return out;
  }

  std::set<std::string> words(const YAML::Node& node) const {
    const std::vector<std::string> list = texts(node);
    return {list.begin(), list.end()};
  }

  Rule rule(const YAML::Node& node) const {
    if (!node.IsMap()) refuse(node, "a rule is a map with id, what, why and what it meets");
    Rule out;
    static const std::map<std::string, Rule::On> kOn = {
        {"call", Rule::On::kCall},       {"name", Rule::On::kName},           {"import", Rule::On::kImport},
        {"define", Rule::On::kDefine},   {"compare", Rule::On::kCompare},     {"file", Rule::On::kFile},
        {"touched", Rule::On::kTouched}, {"subscript", Rule::On::kSubscript}, {"given", Rule::On::kGiven}};
    static const std::map<std::string, Rule::Unsure> kUnsure = {
        {"list", Rule::Unsure::kList}, {"change", Rule::Unsure::kChange}, {"skip", Rule::Unsure::kSkip}};
    for (const auto& pair : node) {
      const std::string key = text(pair.first);
      const YAML::Node& value = pair.second;
      if (const auto on = kOn.find(key); on != kOn.end()) {
        out.on = on->second;
        out.names = names(value);
      } else if (key == "id")
        out.id = text(value);
      else if (key == "what")
        out.what = text(value);
      else if (key == "why")
        out.why = text(value);
      else if (key == "unknown")
        out.unknown = texts(value);
      else if (key == "except")
        out.except = texts(value);
      else if (key == "needs")
        out.needs = text(value);
      else if (key == "once")
        out.once = text(value) == "true";
      else if (key == "open")
        out.needs_open = text(value) == "true";
      else if (key == "when")
        out.when = words(value);
      else if (key == "unless")
        out.unless = words(value);
      else if (key == "imports")
        out.imports = texts(value);
      else if (key == "lines")
        out.lines = texts(value);
      else if (key == "message")
        out.message = text(value);
      else if (key == "report")
        out.report = text(value);
      else if (key == "unsure") {
        if (!kUnsure.contains(text(value))) refuse(value, "`unsure` is list, change or skip");
        out.unsure = kUnsure.at(text(value));
      } else if (key == "do") {
        for (const YAML::Node& each : value) out.actions.push_back(action(each));
      } else if (key == "examples") {
        for (const YAML::Node& each : value) out.examples.push_back(example(each));
      } else {
        refuse(pair.first, fmt::format("a rule has no `{}`", key));
      }
    }
    if (out.id.empty()) refuse(node, "this rule has no id");
    if (out.names.empty() && out.unknown.empty())
      refuse(node,
             fmt::format("rule {} meets nothing: give call, name, import, define, compare, file or touched", out.id));
    if (out.actions.empty() && out.report.empty() && out.imports.empty() && out.lines.empty())
      refuse(node, fmt::format("rule {} neither does nor reports anything", out.id));
    return out;
  }

  Action action(const YAML::Node& node) const {
    static const std::map<std::string, Action::What> kWhat = {
        {"callee", Action::What::kCallee},   {"attribute", Action::What::kAttribute},
        {"dotted", Action::What::kDotted},   {"replace", Action::What::kReplace},
        {"wrap", Action::What::kWrap},       {"set", Action::What::kSet},
        {"default", Action::What::kDefault}, {"rename", Action::What::kRename},
        {"remove", Action::What::kRemove},   {"argument", Action::What::kArgument},
        {"literal", Action::What::kLiteral}, {"code", Action::What::kCode},
        {"keep", Action::What::kKeep},       {"body", Action::What::kBody},
        {"entry", Action::What::kEntry}};
    if (!node.IsMap() || node.size() != 1) refuse(node, "an action is one `name: …`");
    const std::string name = text(node.begin()->first);
    const YAML::Node value = node.begin()->second;
    if (!kWhat.contains(name)) refuse(node, fmt::format("there is no action `{}`", name));
    Action out;
    out.what = kWhat.at(name);
    if (value.IsScalar()) {
      (out.what == Action::What::kRemove ? out.key : out.text) = text(value);
    } else if (value.IsSequence()) {
      const std::vector<std::string> pair = texts(value);
      if (pair.size() != 2) refuse(value, "what stands before and what stands behind are wanted");
      out.text = pair[0], out.after = pair[1];
    } else {
      for (const auto& pair : value) option(out, text(pair.first), pair.second);
    }
    return out;
  }

  void option(Action& out, const std::string& key, const YAML::Node& value) const {
    if (key == "at")
      out.position = value.as<int>();
    else if (key == "key" || key == "from")
      out.key = text(value);
    else if (key == "keyword")
      out.keyword = text(value);
    else if (key == "to" || key == "before")
      out.text = text(value);
    else if (key == "after")
      out.after = text(value);
    else if (key == "missing")
      out.missing = text(value);
    else
      refuse(value, fmt::format("an action has no `{}`", key));
  }

  Example example(const YAML::Node& node) const {
    Example out;
    out.line = node.Mark().line + 1;
    for (const auto& pair : node) {
      const std::string key = text(pair.first);
      if (key == "before")
        out.before = text(pair.second);
      else if (key == "after")
        out.after = text(pair.second);
      else if (key == "features")
        out.features = words(pair.second);
      else if (key == "path")
        out.path = text(pair.second);
      else if (key == "main")
        out.main = text(pair.second);
      else if (key == "notes")
        out.notes = pair.second.as<int>();
      else if (key == "says")
        out.says = text(pair.second);
      else
        refuse(pair.first, fmt::format("an example has no `{}`", key));
    }
    if (!node["after"]) out.after = out.before;
    return out;
  }

  const std::string& file_;
  const YAML::Node root_;
};

}  // namespace

RuleBook RuleBook::built_in() {
  RuleBook out;
  for (const std::string_view name : built_in_names())
    if (name.ends_with(".yaml")) out.read(std::string(name), migrate::built_in(name));
  return out;
}

void RuleBook::read(const std::string& file, std::string_view text) {
  for (Rule& rule : Reader(file, text).rules()) {
    if (find(rule.id)) throw Refusal(fmt::format("{}: there are two rules `{}`; give one another id", file, rule.id));
    rules_.push_back(std::move(rule));
  }
}

void RuleBook::turn_off(const std::string& id) {
  const std::string family = id + "-";
  if (std::erase_if(rules_, [&](const Rule& rule) { return rule.id == id || rule.id.starts_with(family); }) == 0)
    throw Refusal(fmt::format("there is no rule `{}`; `anynpu migrate --explain all` lists them", id));
}

std::vector<const Rule*> RuleBook::active(const std::set<std::string>& features) const {
  std::vector<const Rule*> out;
  for (const Rule& rule : rules_) {
    const bool on = std::ranges::includes(features, rule.when);
    const bool off = std::ranges::any_of(rule.unless, [&](const std::string& each) { return features.contains(each); });
    if (on && !off) out.push_back(&rule);
  }
  return out;
}

const Rule* RuleBook::find(std::string_view id) const {
  const auto found = std::ranges::find(rules_, id, &Rule::id);
  return found == rules_.end() ? nullptr : &*found;
}

}  // namespace npu::migrate
