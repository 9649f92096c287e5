// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/project.h"

#include <algorithm>
#include <string>

#include "tools/migrate/names/known.h"
#include "tools/migrate/names/ring.h"

namespace npu::migrate {
namespace {

constexpr int kDeepest = 24;  // names of names
constexpr int kRounds = 3;    // over modules that import each other in a ring

std::string_view first_component(std::string_view name) { return name.substr(0, name.find('.')); }

AccessPath one(const Step& step) { return {step}; }

/// A package as one sees it from a file: a.b of a/b/c.py.
AccessPath folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  std::string folder(slash == path.npos ? "" : path.substr(0, slash));
  std::ranges::replace(folder, '/', '.');
  return dotted(folder);
}

}  // namespace

Project::Project(const std::vector<std::string>& paths) : exports_(paths.size()), programs_(paths.size()) {
  for (size_t i = 0; i < paths.size(); ++i) {
    AccessPath name = module_of(paths[i]);
    exports_[i].module = name;
    modules_.emplace(name, i);
    while (name.size() > 1) {
      name.pop_back();
      packages_.insert(name);
    }
  }
}

AccessPath Project::module_of(std::string_view path) {
  constexpr std::string_view kNotebook = ".ipynb";
  const bool notebook = path.ends_with(kNotebook);
  if (notebook) path.remove_suffix(kNotebook.size());
  if (path.ends_with(".py")) path.remove_suffix(3);
  if (path == "__init__") path = "";
  if (path.ends_with("/__init__")) path.remove_suffix(9);
  std::string name(path);
  std::ranges::replace(name, '/', '.');
  if (notebook) name += "<notebook>";  // which no import spells
  return dotted(name);
}

Value Project::imported(std::string_view path, std::string_view module, int level) const {
  AccessPath folder = folder_of(path);
  if (level > 0) {
    for (int i = 1; i < level && !folder.empty(); ++i) folder.pop_back();
    return Value::project(joined(folder, dotted(module)));
  }
  if (known_names().is_root(first_component(module))) return Value::library(dotted(module));
  // The script's own folder comes first, as Python's; packages further up are found from the project's root.
  for (;; folder.pop_back()) {
    const AccessPath name = joined(folder, dotted(first_component(module)));
    if (modules_.contains(name) || packages_.contains(name)) return Value::project(joined(folder, dotted(module)));
    if (folder.empty()) return Value::library(dotted(module));
  }
}

const Exports* Project::exports_of(Steps module) const {
  const auto found = modules_.find(module);
  return found == modules_.end() ? nullptr : &exports_[found->second];
}

bool Project::uses_tensorflow() const { return std::ranges::any_of(exports_, &Exports::tensorflow); }

std::vector<size_t> Project::imported_files(size_t index) const {
  std::vector<size_t> out;
  for (const AccessPath& name : programs_[index].modules)
    for (size_t count = name.size();; --count) {  // a.b.c runs a and a.b, too
      const auto found = modules_.find(Steps(name).first(count));
      if (found != modules_.end() && found->second != index) out.push_back(found->second);
      if (count <= 1) break;
    }
  return out;
}

Values Project::follow(const Value& name, int depth) const {
  if (!name.is_ours() || depth > kDeepest) return name;
  // Classes with several bases, whose attributes lead to further classes, have more ways than can be walked.
  // A name that goes on and on is what a function gives that may give its own result: x = x.tocsr().
  constexpr unsigned kMostSteps = 200;
  constexpr size_t kLongest = 200;
  static thread_local unsigned steps = 0;
  if (depth <= 1) steps = 0;
  if (++steps > kMostSteps || name.spelled_size() > kLongest) return Value::unknown();
  // The longest beginning that is a module, but a name that a package itself gives goes first.
  const Steps path = name.path;
  for (size_t count = path.size(); count > 0; --count) {
    if (!parts_at(path, count)) continue;
    const Exports* exports = exports_of(path.first(count));
    if (exports == nullptr) continue;
    if (count == path.size()) return shown_by_package(path, depth);
    return inside(*exports, path.subspan(count), depth + 1);
  }
  const Exports* root = exports_of({});
  return root != nullptr && !path.empty() ? inside(*root, path, depth + 1) : Values(name);
}

/// A module, or what its package has under that name: after `from .model import model` the function goes first.
Values Project::shown_by_package(Steps module, int depth) const {
  Value whole = Value::project({module.begin(), module.end()});
  const Exports* package = module.size() < 2 ? nullptr : exports_of(module.first(module.size() - 1));
  if (package == nullptr) return whole;
  const auto found = package->names.find(module.last(1));
  if (found == package->names.end() || std::ranges::find(found->second, whole) != found->second.end()) return whole;
  return appended(found->second, {}, depth + 1);
}

/// `rest` is x.y().z: its first part is a name of the module.
Values Project::inside(const Exports& exports, Steps rest, int depth) const {
  Value whole = Value::project(joined(exports.module, rest));
  if (depth > kDeepest) return whole;
  if (rest[0].how == Step::How::kDictionary) return in_dictionary(exports, rest, depth);
  const size_t count = first_part(rest);
  const Steps head = rest.first(count), tail = rest.subspan(count);
  const bool called = count > 1 && head.back().how == Step::How::kCall;
  const Steps plain = called ? head.first(count - 1) : head;
  if (const auto found = exports.names.find(head); found != exports.names.end())
    return appended(found->second, tail, depth);
  if (exports.bases.contains(plain)) return !called && tail.empty() ? whole : of_class(exports, plain[0], tail, depth);
  if (exports.defined.contains(plain) && !called) return whole;
  if (called)  // what a variable holds is called
    if (const auto found = exports.names.find(plain); found != exports.names.end())
      return appended(found->second, rest.subspan(count - 1), depth);
  const bool here = exports.defined.contains(plain) || exports.bound.contains(plain);
  for (const Value& star : here ? std::vector<Value>() : exports.stars) {
    if (!star.is_ours()) return known_names().canonical(star.then(rest));
    const Exports* source = exports_of(star.path);
    if (source == nullptr) continue;
    const Values got = inside(*source, rest, depth + 1);
    if (!got.open() && !got.empty()) return got;
  }
  return Value::unknown({tail.begin(), tail.end()});
}

/// `rest` is what follows C or C(): .cuda(). What the class does not define, its bases do.
Values Project::of_class(const Exports& exports, const Step& type, Steps rest, int depth) const {
  const AccessPath made = {type, Step::call()};
  const Value object = Value::project(joined(exports.module, made));
  if (rest.empty() || depth > kDeepest) return object;
  const size_t count = first_part(rest);
  const Steps tail = rest.subspan(count);
  if (const auto found = exports.names.find(joined(made, rest.first(count))); found != exports.names.end())
    return appended(found->second, tail, depth + 1);
  if (const auto found = exports.names.find(joined(made, rest.first(1))); found != exports.names.end())
    return appended(found->second, rest.subspan(1), depth + 1);
  const AccessPath member = {type, rest[0]};
  const Value unknown = Value::unknown({tail.begin(), tail.end()});
  if (exports.defined.contains(member)) return count == 1 ? object.then(rest) : unknown;
  if (exports.bound.contains(member)) return unknown;
  Values out;
  const AccessPath asked = joined(one(Step::call()), rest);
  for (const Value& base : exports.bases.at(one(type)))
    out.add(base.is_name() ? appended(base, asked, depth + 1) : Values(Value::unknown({rest.begin(), rest.end()})));
  return out.empty() ? Values(Value::unknown({rest.begin(), rest.end()})) : out;
}

Values Project::appended(const Values& values, Steps rest, int depth) const {
  if (rest.empty() && std::ranges::none_of(values, &Value::is_ours)) return values;
  Values out;
  for (const Value& value : values) {
    if (value.is_ours())
      out.add(follow(value.then(rest), depth + 1));
    else if (value.is_name())
      out.add(known_names().canonical(value.then(rest)));
    else if (rest.empty())
      out.add(value);
    else
      out.add(value.is_unknown() ? value.then(rest) : Value::unknown({rest.begin(), rest.end()}));
  }
  return out;
}

/// `rest` is an entry of a dictionary of the module, and what follows it.
Values Project::in_dictionary(const Exports& exports, Steps rest, int depth) const {
  const size_t place = first_part(rest);
  if (place == rest.size()) return Value::project(joined(exports.module, rest));
  const size_t count = place + first_part(rest.subspan(place));
  const Steps tail = rest.subspan(count);
  const auto found = exports.names.find(rest.first(count));
  return found == exports.names.end() ? Values(Value::unknown({tail.begin(), tail.end()}))
                                      : appended(found->second, tail, depth + 1);
}

std::vector<std::string> Project::parameters(const Value& name) const {
  const Steps path = name.is_ours() ? Steps(name.path) : Steps();
  for (size_t count = path.size(); count-- > 1;) {
    if (!parts_at(path, count)) continue;
    const Exports* exports = exports_of(path.first(count));
    if (exports == nullptr) continue;
    AccessPath rest(path.begin() + static_cast<std::ptrdiff_t>(count), path.end());
    std::erase(rest, Step::call());
    if (exports->bases.contains(rest)) rest.push_back(Step::attribute("__init__"));
    const auto found = exports->parameters.find(rest);
    std::vector<std::string> out;
    if (found == exports->parameters.end()) return out;
    for (const Word& parameter : found->second) out.emplace_back(parameter.text());
    return out;
  }
  return {};
}

bool Project::settle_once(size_t index) {
  bool changed = false;
  for (auto& [key, values] : exports_[index].names) {
    Values followed = appended(values, {}, 0);
    if (!std::ranges::equal(followed, values)) values = std::move(followed), changed = true;
  }
  for (auto& [type, bases] : exports_[index].bases) {
    std::vector<Value> out;
    for (const Value& base : bases)
      for (const Value& value : appended(base, {}, 0)) out.push_back(value);
    if (out != bases) bases = std::move(out), changed = true;
  }
  return changed;
}

/// The modules that names of this one lead to.
std::vector<size_t> Project::imports_of(size_t index) const {
  std::vector<size_t> out;
  const auto add = [&](const Value& value) {
    const Steps path = value.path;
    for (size_t count = value.is_ours() ? path.size() : 0; count > 0; --count) {
      const auto found = parts_at(path, count) ? modules_.find(path.first(count)) : modules_.end();
      if (found != modules_.end() && found->second != index) out.push_back(found->second);
      if (found != modules_.end()) return;
    }
  };
  for (const auto& [key, values] : exports_[index].names) std::ranges::for_each(values, add);
  for (const auto& [key, bases] : exports_[index].bases) std::ranges::for_each(bases, add);
  std::ranges::for_each(exports_[index].stars, add);
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
