// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/project.h"

#include <algorithm>
#include <functional>
#include <sstream>

#include "tools/migrate/names/known.h"
#include "tools/migrate/names/ring.h"

namespace npu::migrate {
namespace {

constexpr int kDeepest = 24;  // names of names
constexpr int kRounds = 3;    // over modules that import each other in a ring

std::string joined(const std::string& module, const std::string& name) {
  return module == ":" ? ":" + name : module + "." + name;
}

std::string_view first_component(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace

Project::Project(const std::vector<std::string>& paths) : exports_(paths.size()) {
  for (size_t i = 0; i < paths.size(); ++i) {
    std::string name = module_of(paths[i]);
    exports_[i].module = name;
    modules_.emplace(name, i);
    while (true) {
      const size_t dot = name.rfind('.');
      if (dot == name.npos) break;
      name.resize(dot);
      packages_.insert(name);
    }
  }
}

std::string Project::module_of(std::string_view path) {
  constexpr std::string_view kNotebook = ".ipynb";
  if (path.ends_with(kNotebook))  // a name that no import spells
    return module_of(path.substr(0, path.size() - kNotebook.size())) + "<notebook>";
  if (path.ends_with(".py")) path.remove_suffix(3);
  if (path == "__init__") return ":";
  if (path.ends_with("/__init__")) path.remove_suffix(9);
  std::string name = ":" + std::string(path);
  std::ranges::replace(name, '/', '.');
  return name;
}

std::string Project::imported(std::string_view path, std::string_view module, int level) const {
  const size_t slash = path.rfind('/');
  std::string folder = ":" + std::string(slash == path.npos ? "" : path.substr(0, slash));
  std::ranges::replace(folder, '/', '.');
  const auto below = [](const std::string& where, std::string_view name) {
    return name.empty() ? where : where == ":" ? ":" + std::string(name) : where + "." + std::string(name);
  };
  const auto up = [](std::string where) {
    const size_t dot = where.rfind('.');
    return dot == where.npos ? std::string(":") : where.substr(0, dot);
  };
  if (level > 0) {
    for (int i = 1; i < level; ++i) folder = up(folder);
    return below(folder, module);
  }
  if (known_names().is_root(first_component(module))) return std::string(module);
  // The script's own folder comes first, as Python's; packages further up are found from the project's root.
  for (std::string where = folder;; where = up(where)) {
    const std::string name = below(where, first_component(module));
    if (modules_.contains(name) || packages_.contains(name)) return below(where, module);
    if (where == ":") return std::string(module);
  }
}

const Exports* Project::exports_of(std::string_view module) const {
  const auto found = modules_.find(std::string(module));
  return found == modules_.end() ? nullptr : &exports_[found->second];
}

bool Project::uses_tensorflow() const { return std::ranges::any_of(exports_, &Exports::tensorflow); }

std::vector<size_t> Project::imported_files(size_t index) const {
  std::vector<size_t> out;
  for (std::string name : exports_[index].program.modules)
    while (true) {  // a.b.c runs a and a.b, too
      const auto found = modules_.find(name);
      if (found != modules_.end() && found->second != index) out.push_back(found->second);
      if (name.find('.') == name.npos) break;
      name.resize(name.rfind('.'));
    }
  return out;
}

Values Project::follow(const std::string& name, int depth) const {
  if (!name.starts_with(':') || depth > kDeepest) return Value::name(name);
  // Classes with several bases, whose attributes lead to further classes, have more ways than can be walked.
  // A name that goes on and on is what a function gives that may give its own result: x = x.tocsr().
  constexpr unsigned kMostSteps = 200;
  constexpr size_t kLongest = 200;
  static thread_local unsigned steps = 0;
  if (depth <= 1) steps = 0;
  if (++steps > kMostSteps || name.size() > kLongest) return Value::unknown();
  // The longest prefix that is a module, but a name that a package itself gives goes first.
  for (size_t end = name.size(); end != name.npos; end = end == 0 ? name.npos : name.rfind('.', end - 1)) {
    const Exports* exports = exports_of(std::string_view(name).substr(0, end));
    if (exports == nullptr) continue;
    if (end == name.size()) return shown_by_package(name, depth);
    return inside(*exports, name.substr(end + 1), depth + 1);
  }
  const Exports* root = exports_of(":");
  return root != nullptr && name.size() > 1 ? inside(*root, name.substr(1), depth + 1) : Values(Value::name(name));
}

/// A module, or what its package has under that name: after `from .model import model` the function goes first.
Values Project::shown_by_package(const std::string& module, int depth) const {
  const size_t dot = module.rfind('.');
  const Exports* package = dot == module.npos ? nullptr : exports_of(std::string_view(module).substr(0, dot));
  if (package == nullptr) return Value::name(module);
  const auto found = package->names.find(module.substr(dot + 1));
  const auto itself = [&](const Value& value) { return value.is_name() && value.text == module; };
  if (found == package->names.end() || std::ranges::any_of(found->second, itself)) return Value::name(module);
  return appended(found->second, "", depth + 1);
}

/// `rest` is "x.y().z": its first component is a name of the module.
Values Project::inside(const Exports& exports, const std::string& rest, int depth) const {
  const std::string whole = joined(exports.module, rest);
  if (depth > kDeepest) return Value::name(whole);
  if (rest.starts_with('{')) return in_dictionary(exports, rest, depth);
  const size_t dot = rest.find('.');
  const std::string head = rest.substr(0, dot), tail = dot == rest.npos ? "" : rest.substr(dot);
  const bool called = head.ends_with("()");
  const std::string plain = called ? head.substr(0, head.size() - 2) : head;
  if (const auto found = exports.names.find(head); found != exports.names.end())
    return appended(found->second, tail, depth);
  if (exports.bases.contains(plain))
    return !called && tail.empty() ? Value::name(whole) : of_class(exports, plain, tail, depth);
  if (exports.defined.contains(plain) && !called) return Value::name(whole);
  if (called)  // what a variable holds is called
    if (const auto found = exports.names.find(plain); found != exports.names.end())
      return appended(found->second, "()" + tail, depth);
  const bool here = exports.defined.contains(plain) || exports.bound.contains(plain);
  for (const std::string& star : here ? std::vector<std::string>() : exports.stars) {
    const Exports* source = exports_of(star);
    if (source == nullptr) {
      if (!star.starts_with(':')) return Value::name(known_names().canonical(star + "." + rest));
      continue;
    }
    const Values got = inside(*source, rest, depth + 1);
    if (!got.open() && !got.empty()) return got;
  }
  return Value::unknown(tail.empty() ? "?" : "?" + tail);
}

/// `rest` is what follows C or C(): ".cuda()". What the class does not define, its bases do.
Values Project::of_class(const Exports& exports, const std::string& type, const std::string& rest, int depth) const {
  const std::string object = joined(exports.module, type) + "()";
  if (rest.empty() || depth > kDeepest) return Value::name(object);
  const size_t dot = rest.find('.', 1);
  const std::string head = rest.substr(1, dot == rest.npos ? dot : dot - 1);
  const std::string tail = dot == rest.npos ? "" : rest.substr(dot);
  if (const auto found = exports.names.find(type + "()." + head); found != exports.names.end())
    return appended(found->second, tail, depth + 1);
  const std::string plain = head.substr(0, head.find_first_of("(["));
  if (const auto found = exports.names.find(type + "()." + plain); found != exports.names.end() && plain != head)
    return appended(found->second, head.substr(plain.size()) + tail, depth + 1);
  if (exports.defined.contains(type + "." + plain))
    return plain == head ? Value::name(object + rest) : Value::unknown("?" + tail);
  if (exports.bound.contains(type + "." + plain)) return Value::unknown("?" + tail);
  Values out;
  for (const Value& base : exports.bases.at(type))
    out.add(base.is_name() ? appended(base, "()" + rest, depth + 1) : Values(Value::unknown("?" + rest)));
  return out.empty() ? Values(Value::unknown("?" + rest)) : out;
}

Values Project::appended(const Values& values, const std::string& rest, int depth) const {
  if (rest.empty() && std::ranges::none_of(values, [](const Value& value) { return value.is_ours(); })) return values;
  Values out;
  for (const Value& value : values) {
    if (value.is_ours())
      out.add(follow(value.text + rest, depth + 1));
    else if (value.is_name())
      out.add(Value::name(known_names().canonical(value.text + rest)));
    else if (rest.empty())
      out.add(value);
    else
      out.add(Value::unknown((value.what == Value::What::kUnknown ? value.text : "?") + rest));
  }
  return out;
}

/// `rest` is "{12}.[device].x": an entry of a dictionary of the module.
Values Project::in_dictionary(const Exports& exports, const std::string& rest, int depth) const {
  const size_t dot = rest.find('.');
  if (dot == rest.npos) return Value::name(exports.module + "." + rest);
  const size_t next = rest.find('.', dot + 1);
  const std::string tail = next == rest.npos ? "" : rest.substr(next);
  const auto found = exports.names.find(rest.substr(0, next));
  return found == exports.names.end() ? Values(Value::unknown("?" + tail)) : appended(found->second, tail, depth + 1);
}

std::vector<std::string> Project::parameters(std::string_view name) const {
  for (size_t end = name.rfind('.'); end != name.npos && end > 0; end = name.rfind('.', end - 1)) {
    const Exports* exports = exports_of(name.substr(0, end));
    if (exports == nullptr) continue;
    std::string rest(name.substr(end + 1));
    std::erase_if(rest, [](char c) { return c == '(' || c == ')'; });
    if (exports->bases.contains(rest)) rest += ".__init__";
    const auto found = exports->parameters.find(rest);
    std::vector<std::string> out;
    if (found == exports->parameters.end()) return out;
    std::istringstream list(found->second);
    for (std::string parameter; std::getline(list, parameter, ',');) out.push_back(parameter);
    return out;
  }
  return {};
}

bool Project::settle_once(size_t index) {
  bool changed = false;
  for (auto& [key, values] : exports_[index].names) {
    Values followed = appended(values, "", 0);
    if (!std::ranges::equal(followed, values)) values = std::move(followed), changed = true;
  }
  for (auto& [type, bases] : exports_[index].bases) {
    std::vector<Value> out;
    for (const Value& base : bases)
      for (const Value& value : appended(base, "", 0)) out.push_back(value);
    if (out != bases) bases = std::move(out), changed = true;
  }
  return changed;
}

/// The modules that names of this one lead to.
std::vector<size_t> Project::imports_of(size_t index) const {
  std::vector<size_t> out;
  const auto add = [&](const Value& value) {
    if (!value.is_ours()) return;
    for (std::string name = value.text; name.size() > 1; name.resize(std::min(name.rfind('.'), name.size()))) {
      const auto found = modules_.find(name);
      if (found != modules_.end() && found->second != index) out.push_back(found->second);
      if (found != modules_.end() || name.find('.') == name.npos) return;
    }
  };
  for (const auto& [key, values] : exports_[index].names) std::ranges::for_each(values, add);
  for (const auto& [key, bases] : exports_[index].bases) std::ranges::for_each(bases, add);
  for (const std::string& star : exports_[index].stars) add(Value::name(star));
  return out;
}

void Project::settle() {
  std::vector<std::vector<size_t>> imports;
  for (size_t i = 0; i < exports_.size(); ++i) imports.push_back(imports_of(i));
  for (const std::vector<size_t>& ring : rings(imports))
    for (int round = 0; round < kRounds; ++round) {
      bool changed = false;
      for (const size_t index : ring) changed = settle_once(index) || changed;
      if (!changed) break;
    }
}

}  // namespace npu::migrate
