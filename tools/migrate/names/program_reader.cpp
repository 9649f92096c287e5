// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/program_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "tools/migrate/names/known.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr std::array<std::string_view, 6> kTrains = {"fit",      "fit_generator",   "train_on_batch",
                                                     "minimize", "apply_gradients", "train_and_evaluate"};
constexpr std::array<std::string_view, 7> kComputes = {"evaluate",         "evaluate_generator", "predict",
                                                       "predict_on_batch", "predict_generator",  "test_on_batch",
                                                       "GradientTape"};

template <class List>
bool among(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

/// `__name__ == "__main__"`, either way round.
bool asks_for_main(Node condition) {
  while (condition.is(k_parenthesized_expression) && condition.named().size() == 1) condition = condition.named()[0];
  if (!condition.is(k_comparison_operator) || condition.text().find("==") == std::string_view::npos) return false;
  const std::vector<Node> sides = condition.named();
  if (sides.size() != 2) return false;
  const auto name = [](Node side) { return side.is(k_identifier) && side.text() == "__name__"; };
  const auto main = [](Node side) {
    return side.is(k_string) && side.text().find("__main__") != std::string_view::npos;
  };
  return (name(sides[0]) && main(sides[1])) || (name(sides[1]) && main(sides[0]));
}

std::string_view last_name(Node callee) {
  return callee.is(k_attribute) ? callee.child(Field::k_attribute).text() : callee.text();
}

class Reading {
 public:
  explicit Reading(Evaluator& names) : names_(names), tree_(names.tree()) {}

  Program done() {
    out_.guard = static_cast<bool>(main_guard(tree_));
    const bool opened = tree_.source().bytes().find("npu_device") != std::string::npos;
    for (uint32_t i = 0; i < tree_.size(); ++i) {
      const Node node = tree_.node(i);
      if (node.is(k_import_statement) || node.is(k_import_from_statement)) imported(node);
      if (!node.is(k_call)) continue;
      called(node);
      if (opened && names_.sure_name(node.child(Field::k_function)) == "npu_device.open") out_.opens = true;
    }
    out_.runs = reaches_work();
    return std::move(out_);
  }

 private:
  struct Body {
    bool works = false;
    std::set<std::string_view> calls;
  };

  void imported(Node statement) {
    const Node module = statement.child(Field::k_module_name);
    if (!module) {
      for (const Node each : statement.children(Field::k_name))
        take((each.is(k_aliased_import) ? each.child(Field::k_name) : each).text(), 0);
      return;
    }
    std::string_view name = module.text();
    const int level = static_cast<int>(std::min(name.find_first_not_of('.'), name.size()));
    name.remove_prefix(level);
    take(name, level);
    for (const Node each : statement.children(Field::k_name)) {
      const std::string_view what = (each.is(k_aliased_import) ? each.child(Field::k_name) : each).text();
      take(std::string(name) + (name.empty() ? "" : ".") + std::string(what), level);
    }
  }

  void take(std::string_view module, int level) {
    const Value imported = names_.project().imported(names_.path(), module, level);
    if (imported.is_ours()) {
      out_.modules.push_back(imported.path);
      return;
    }
    const std::string name = imported.spelled();
    const std::string known = known_names().canonical(name), root = known.substr(0, known.find('.'));
    out_.tensorflow = out_.tensorflow || root == "tensorflow";
    out_.torch = out_.torch || root == "torch";
    out_.upon = out_.upon || known_names().made_of(name) == "tensorflow";
  }

  /// The functions and methods around decide when it is called; of a class, the body runs where it stands.
  void called(Node call) {
    const Node callee = call.child(Field::k_function), around = SymbolTable::function_around(call);
    Body& body = bodies_[around ? around.child(Field::k_name).text() : ""];
    const std::string_view name = last_name(callee);
    out_.trains = out_.trains || among(kTrains, name);
    body.works = body.works || among(kTrains, name) || among(kComputes, name) ||
                 (name == "device" && names_.sure_name(callee) == "tensorflow.device");
    body.calls.insert(name);
    if (const Node list = call.child(Field::k_arguments))  // app.run(main)
      for (const Node each : list.named()) {
        const Node value = each.is(k_keyword_argument) ? each.child(Field::k_value) : each;
        if (value.is(k_identifier) || value.is(k_attribute)) body.calls.insert(last_name(value));
      }
    if (around && around.child(Field::k_name).text() == "__init__")
      if (const Node type = around.above(k_class_definition)) makers_[type.child(Field::k_name).text()] = "__init__";
  }

  bool reaches_work() {
    std::set<std::string_view> seen;
    std::vector<std::string_view> open = {""};
    while (!open.empty()) {
      const std::string_view name = open.back();
      open.pop_back();
      const auto body = bodies_.find(name);
      if (body == bodies_.end() || !seen.insert(name).second) continue;
      if (body->second.works) return true;
      for (const std::string_view called : body->second.calls)
        open.push_back(makers_.contains(called) ? makers_.at(called) : called);
    }
    return false;
  }

  Evaluator& names_;
  const Tree& tree_;
  Program out_;
  std::map<std::string_view, Body> bodies_;              // of functions, by name; "" what stands in none
  std::map<std::string_view, std::string_view> makers_;  // of classes: what making one calls
};

}  // namespace

Node main_guard(const Tree& tree) {
  for (const Node statement : tree.root().named())
    if (statement.is(k_if_statement) && asks_for_main(statement.child(Field::k_condition))) return statement;
  return {};
}

Program program_of(Evaluator& names) { return Reading(names).done(); }

}  // namespace npu::migrate
