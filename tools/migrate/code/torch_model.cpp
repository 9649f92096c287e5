// SPDX-License-Identifier: Apache-2.0
// `distributed`: the model that -t names is wrapped once it is made, and what only it has is asked of the wrapper's
// module.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"
#include "tools/migrate/migration/statement.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr const char* kNpu = "import torch_npu";
constexpr const char* kParallel = "from torch.nn.parallel import DistributedDataParallel";
constexpr const char* kDevices = "[torch_npu.npu.current_device()]";

bool has(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

/// What a DistributedDataParallel has as any module; all else is the module's inside it.
bool is_of_wrapper(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "parameters", "named_parameters", "train",    "eval",           "zero_grad", "to",        "cuda",
      "npu",        "modules",          "children", "named_modules",  "buffers",   "apply",     "half",
      "float",      "training",         "forward",  "module",         "no_sync",   "type",      "double",
      "bfloat16",   "device",           "join",     "named_children", "cpu",       "__class__", "requires_grad_"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

/// The last place in a scope where the model comes to be.
struct Made {
  Node scope, statement;
  bool wrapped = false;  ///< by the script itself
};

/// Whether `model = …(…)`, or `model, optimizer = amp.initialize(…)`.
bool makes(Node assignment, const std::string& model) {
  const Node left = assignment.child(Field::k_left);
  if (!assignment.is(k_assignment) || !assignment.child(Field::k_right).is(k_call)) return false;
  if (!left.is(k_pattern_list) && !left.is(k_tuple_pattern)) return left.text() == model;
  return std::ranges::any_of(left.named(), [&](Node each) { return each.text() == model; });
}

/// The statement to wrap it behind, branches around it included; none in a loop.
Node whole_statement(Node assignment, Node scope) {
  Node out = statement_of(assignment);
  for (Node at = out.parent(); at && at != scope; at = at.parent()) {
    if (at.is(k_for_statement) || at.is(k_while_statement)) return {};
    if (at.is(k_if_statement) || at.is(k_try_statement) || at.is(k_with_statement)) out = at;
  }
  return out;
}

std::vector<Made> places(Migration& migration, Node root, const std::string& model) {
  std::vector<Made> out;
  for (uint32_t i = 0; i < root.past(); ++i) {
    const Node node = root.tree().node(i);
    if (!makes(node, model)) continue;
    const Node scope = migration.script.names().table().scope_of(node), statement = whole_statement(node, scope);
    if (!statement || scope.is(k_class_definition)) continue;
    const bool wrapped = has(node.child(Field::k_right).text(), "DataParallel(");
    if (const auto known = std::ranges::find(out, scope, &Made::scope); known == out.end())
      out.push_back({scope, statement, wrapped});
    else
      known->statement = statement, known->wrapped = known->wrapped || wrapped;
  }
  return out;
}

/// Whether what follows trains it.
bool trained_behind(Migration& migration, const Made& made, const std::string& model) {
  const std::string_view bytes = migration.script.source().bytes();
  const std::string_view rest = bytes.substr(made.statement.end(), made.scope.end() - made.statement.end());
  return has(rest, model + ".parameters(") || has(rest, model + ".train(");
}

/// `model.fc`: something that the wrapper does not hand on.
bool asks_module(Node node, const std::string& model) {
  return node.is(k_attribute) && node.child(Field::k_object).text() == model &&
         !is_of_wrapper(node.child(Field::k_attribute).text());
}

/// Behind the wrapping it is `model.module.fc`.
void ask_module(Migration& migration, const Rule& rule, Node attribute) {
  const size_t row = migration.ledger.change_at(rule, attribute.begin(), attribute.end());
  migration.ledger.row(row).message = "the wrapper does not hand this on";
  migration.rewriter.edits().append(attribute.child(Field::k_object).end(), ".module", row);
}

/// Elsewhere the model may be wrapped or not: `getattr(model, "module", model).fc` is right for both.
void ask_perhaps(Migration& migration, const Rule& rule, Node attribute) {
  const Node object = attribute.child(Field::k_object);
  const size_t row = migration.ledger.change_at(rule, attribute.begin(), attribute.end());
  migration.ledger.row(row).message = "the model may come wrapped here, and the wrapper does not hand this on";
  migration.rewriter.edits().replace(object.begin(), object.end(),
                                     fmt::format("getattr({0}, \"module\", {0})", object.text()), row);
}

void wrap(Migration& migration, const Rule& rule, const Made& made, const std::string& model) {
  const std::string line = fmt::format("{0} = DistributedDataParallel({0}.npu(), device_ids={1})", model, kDevices);
  const size_t row =
      put_behind(migration, rule, made.statement, {line}, "each process trains a copy, gradients are averaged");
  migration.rewriter.need_import(kNpu, row);
  migration.rewriter.need_import(kParallel, row);
  for (uint32_t i = made.statement.past(); i < made.scope.past(); ++i)
    if (const Node node = made.scope.tree().node(i);
        asks_module(node, model) && migration.script.names().table().scope_of(node) == made.scope)
      ask_module(migration, rule, node);
}

/// Whether `model` at this place is what somebody else wrapped: a parameter, the file's own, an attribute of self.
bool comes_from_outside(Migration& migration, Node use, const std::string& model, const std::vector<Made>& wrapped) {
  const SymbolTable& table = migration.script.names().table();
  if (!table.function_around(use)) return false;
  const std::string first = model.substr(0, model.find('.'));
  if (const Node type = table.class_of_self(first, use); type && first != model)
    return std::ranges::any_of(wrapped,
                               [&](const Made& made) { return table.class_of_self(first, made.statement) == type; });
  const std::vector<const Binding*> bindings = table.reaching(first, use);
  if (bindings.empty()) return false;
  const Node holder = table.holder(first, use);
  if (holder.is(k_module)) return std::ranges::any_of(wrapped, [&](const Made& made) { return made.scope == holder; });
  return std::ranges::all_of(bindings, [](const Binding* each) { return each->how == Binding::How::kParameter; });
}

bool wrap_model(Migration& migration, const Rule& rule, Node root, size_t) {
  const std::string& model = migration.script.options().model;
  std::vector<Made> wrapped;
  for (const Made& made : places(migration, root, model)) {
    if (!trained_behind(migration, made, model)) continue;
    if (!made.wrapped) wrap(migration, rule, made, model);
    wrapped.push_back(made);
  }
  const auto inside = [&](Node node) {
    return std::ranges::find(wrapped, migration.script.names().table().scope_of(node), &Made::scope) != wrapped.end();
  };
  for (uint32_t i = 0; i < root.past(); ++i)
    if (const Node node = root.tree().node(i);
        asks_module(node, model) && !inside(node) && comes_from_outside(migration, node, model, wrapped))
      ask_perhaps(migration, rule, node);
  return false;  // the rows are its own
}

/// Whether only a part of a model is meant, as in `model.features = DataParallel(model.features)`.
bool is_part(Node module) {
  const Node object = module.is(k_attribute) ? module.child(Field::k_object) : Node();
  return object && object.text() != "self" && object.text() != "cls";
}

/// nn.DataParallel(net) becomes DistributedDataParallel(net.npu(), device_ids=[…]).
bool data_parallel(Migration& migration, const Rule& rule, Node node, size_t change) {
  const Arguments arguments(node);
  const Node callee = node.child(Field::k_function), module = arguments.value(0, "module");
  if (!module) return false;
  if (is_part(module)) {
    migration.ledger.note(
        rule, node, "manual",
        "left as it is: it wraps a part of the model only, and the gradients of the rest would differ "
        "between processes; wrap the whole model in DistributedDataParallel");
    return false;
  }
  const bool simple = module.is(k_identifier) || module.is(k_attribute) || module.is(k_call);
  migration.rewriter.edits().replace(callee.begin(), callee.end(), "DistributedDataParallel", change);
  migration.rewriter.edits().wrap(module.begin(), module.end(), simple ? "" : "(", simple ? ".npu()" : ").npu()",
                                  change);
  for (const auto& [name, position] : {std::pair("dim", 3), std::pair("output_device", 2)})
    if (const Node keyword = arguments.keyword(name))
      arguments.remove(migration, keyword, change);
    else if (const Node given = arguments.at(position))
      arguments.remove(migration, given, change);
  if (const Node devices = arguments.value(1, "device_ids"))
    migration.rewriter.edits().replace(devices.begin(), devices.end(), kDevices, change);
  else
    arguments.add(migration, fmt::format("device_ids={}", kDevices), change);
  return true;
}

const CodeEntry kWrap("torch-wrap-model", wrap_model), kDataParallel("torch-data-parallel", data_parallel);

}  // namespace
}  // namespace npu::migrate
