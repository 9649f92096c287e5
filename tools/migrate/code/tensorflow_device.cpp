// SPDX-License-Identifier: Apache-2.0
// Scripts ask for a GPU before they name one; with an NPU the answer is no, and a script that trusts it would train on
// the CPU.
#include <fmt/format.h>

#include <algorithm>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"
#include "tools/migrate/migration/statement.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr int kDeepest = 8;  // definitions followed from a name

enum class Answer { kNone, kHasGpu, kHasNone };

Answer opposite(Answer answer) {
  if (answer == Answer::kNone) return answer;
  return answer == Answer::kHasGpu ? Answer::kHasNone : Answer::kHasGpu;
}

bool is_zero(Node node) { return node.is(k_integer) && node.text() == "0"; }

class Question {
 public:
  explicit Question(Migration& migration) : migration_(migration) {}

  /// What it means for a GPU where this condition holds.
  Answer of(Node condition, int depth = 0) {
    if (!condition || depth > kDeepest) return Answer::kNone;
    switch (condition.kind()) {
      case k_parenthesized_expression:
        return condition.named().size() == 1 ? of(condition.named()[0], depth + 1) : Answer::kNone;
      case k_not_operator: return opposite(of(condition.child(Field::k_argument), depth + 1));
      case k_comparison_operator: return of_comparison(condition, depth);
      case k_call: return of_call(condition, depth);
      case k_identifier: return of_name(condition, depth);
      default: return Answer::kNone;
    }
  }

 private:
  /// `len(gpus) > 0`, `== 0`, `>= 1` …
  Answer of_comparison(Node node, int depth) {
    const std::vector<Node> sides = node.named();
    const Node sign = node.child(Field::k_operators);
    if (sides.size() != 2 || !sign || !sides[1].is(k_integer)) return Answer::kNone;
    const Answer left = of(sides[0], depth + 1);
    if (is_zero(sides[1]) && (sign.text() == "==" || sign.text() == "<=")) return opposite(left);
    const bool some = is_zero(sides[1]) ? sign.text() == ">" || sign.text() == "!=" : sign.text() == ">=";
    const bool more = !is_zero(sides[1]) && sign.text() == ">";
    return some || more ? left : Answer::kNone;
  }

  Answer of_call(Node call, int depth) {
    const std::string name = migration_.script.names().sure_name(call.child(Field::k_function));
    const Arguments arguments(call);
    if (name == "len" || name == "bool" || call.child(Field::k_function).text() == "len" ||
        call.child(Field::k_function).text() == "bool")
      return of(arguments.at(0), depth + 1);
    if (!name.starts_with("tensorflow.")) return Answer::kNone;
    if (name.ends_with(".test.is_gpu_available") || name.ends_with(".test.is_built_with_cuda") ||
        name.ends_with(".test.gpu_device_name"))
      return Answer::kHasGpu;
    const bool lists = name.ends_with(".list_physical_devices") || name.ends_with(".list_logical_devices") ||
                       name.ends_with(".get_visible_devices");
    const Node type = lists ? arguments.value(0, "device_type") : Node();
    if (!type) return Answer::kNone;
    const Values& values = migration_.script.names().of(type);
    const auto gpu = [](const Value& value) { return value.is_text() && value.text == "GPU"; };
    return std::ranges::all_of(values, gpu) ? Answer::kHasGpu : Answer::kNone;
  }

  Answer of_name(Node name, int depth) {
    Answer out = Answer::kNone;
    for (const Binding* binding : migration_.script.names().table().reaching(name.text(), name)) {
      const Answer one = binding->how == Binding::How::kAssign ? of(binding->value, depth + 1) : Answer::kNone;
      if (one == Answer::kNone || (out != Answer::kNone && out != one)) return Answer::kNone;
      out = one;
    }
    return out;
  }

  Migration& migration_;
};

/// The string that holds this byte of its content, or none.
Node string_at(const Tree& tree, size_t byte) {
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const Node node = tree.node(i);
    if (node.is(k_string) && node.begin() < byte && byte < node.end()) return node;
  }
  return {};
}

/// `'/gpu:0' if gpus else '/cpu:0'`: only the GPU's branch stays.
bool keep_branch(Migration& migration, Node string, size_t change) {
  const Node choice = string.parent();
  const std::vector<Node> parts = choice.named();  // then, condition, else
  if (!choice.is(k_conditional_expression) || parts.size() != 3 || string == parts[1]) return false;
  const Answer answer = Question(migration).of(parts[1]);
  if (answer == Answer::kNone || (answer == Answer::kHasGpu) != (string == parts[0])) return false;
  if (choice.begin() < string.begin()) migration.rewriter.edits().replace(choice.begin(), string.begin(), "", change);
  if (string.end() < choice.end()) migration.rewriter.edits().replace(string.end(), choice.end(), "", change);
  return true;
}

/// `if gpus:` around a device's name, in the branch that is for machines with a GPU.
void list_branch(Migration& migration, const Rule& rule, Node string) {
  for (Node at = string; at; at = at.parent()) {
    if (at.is(k_function_definition) || at.is(k_class_definition)) return;
    const Node around = at.parent();
    if (!around.is(k_if_statement) || at.field() == Field::k_condition) continue;
    const Answer answer = Question(migration).of(around.child(Field::k_condition));
    const bool then = at.field() == Field::k_consequence;
    if (answer == Answer::kNone || (answer == Answer::kHasGpu) != then) continue;
    const Node condition = around.child(Field::k_condition);
    if (migration.rewriter.meet_once(condition))
      migration.ledger.note(
          rule, condition, "manual",
          fmt::format("no GPU is found on a machine with an NPU, and what names the NPU at line {} is not "
                      "reached: make the condition {}",
                      string.line(), then ? "True" : "False"));
    return;
  }
}

/// After the names of a device became the NPU's: a choice between it and the CPU by a question for GPUs is decided.
bool choose_npu(Migration& migration, const Rule& rule, Node call, size_t change) {
  const Arguments arguments(call);
  const Node where = arguments.value(0, arguments.keyword("device") ? "device" : "device_name");
  bool done = false;
  if (!where) return done;
  const Values values = migration.script.names().of(where);
  for (const Value& value : values) {
    if (!value.is_text() || value.origin.file != migration.script.names().file()) continue;
    if (!migration.rewriter.is_taken(value.origin) && value.text.find("NPU") == std::string::npos) continue;
    const Node string = string_at(migration.script.tree(), value.origin.begin);
    if (!string || !migration.rewriter.meet_once(string)) continue;
    if (string.parent().is(k_conditional_expression)) {
      const bool here = where.begin() <= string.begin() && string.end() <= where.end();
      const size_t row =
          here ? change : migration.ledger.change_at(rule, string.parent().begin(), string.parent().end());
      done = keep_branch(migration, string, row) || done;
    }
    list_branch(migration, rule, string);
  }
  return done;
}

bool ends_here(Node statement) {
  if (statement.is(k_raise_statement)) return true;
  if (!statement.is(k_expression_statement) || statement.named().empty() || !statement.named()[0].is(k_call))
    return false;
  const std::string_view callee = statement.named()[0].child(Field::k_function).text();
  return callee == "exit" || callee == "quit" || callee == "sys.exit";
}

/// `assert gpus`, `if not gpus: raise …`: the script gives up without a GPU.
bool gives_up(Migration& migration, const Rule& rule, Node, size_t) {
  const Tree& tree = migration.script.tree();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const Node node = tree.node(i);
    Node condition;
    Answer wrong = Answer::kHasNone;
    if (node.is(k_assert_statement) && !node.named().empty()) {
      condition = node.named()[0];
      wrong = Answer::kHasGpu;
    } else if (node.is(k_if_statement) && std::ranges::any_of(node.child(Field::k_consequence).named(), ends_here)) {
      condition = node.child(Field::k_condition);
    }
    if (condition && Question(migration).of(condition) == wrong)
      migration.ledger.note(rule, condition, "manual", rule.message);
  }
  return false;
}

/// tf.config.set_visible_devices(gpus[0], 'GPU'): there is no first one. An empty list, which hides all, stays.
bool show_none(Migration& migration, const Rule&, Node call, size_t change) {
  const Arguments arguments(call);
  const Node devices = arguments.value(0, "devices"), type = arguments.value(1, "device_type");
  if (!devices || !type || (devices.is(k_list) && devices.named().empty())) return false;
  const Values& values = migration.script.names().of(type);
  if (values.size() != 1 || !values.begin()->is_text() || values.begin()->text != "GPU") return false;
  if (!drop_statement(migration, call, change))
    migration.rewriter.edits().replace(call.begin(), call.end(), "None", change);
  return true;
}

/// "tf.distribute" of the module a strategy is called from, "" where it was imported by itself.
std::string module_of(Migration& migration, Node callee) {
  if (!callee.is(k_attribute)) return "";
  std::string object(callee.child(Field::k_object).text());
  if (migration.script.names().sure_name(callee).find(".experimental.") == std::string::npos) return object;
  constexpr std::string_view kInner = ".experimental";
  return object.ends_with(kInner) ? object.substr(0, object.size() - kInner.size()) : "";
}

/// A strategy over the GPUs of a machine becomes one over the process's NPU.
bool one_device(Migration& migration, const Rule& rule, Node call, size_t change) {
  constexpr const char* kImport = "import tensorflow as tf";
  std::string module = module_of(migration, call.child(Field::k_function));
  if (module.empty()) {
    if (!migration.script.taken_name(kImport, call).empty()) {
      migration.ledger.note(rule, call, "manual",
                            "make it tf.distribute.OneDeviceStrategy('/NPU:0'); `tf` is taken here");
      return false;
    }
    migration.rewriter.need_import(kImport, change);
    module = "tf.distribute";
  }
  migration.rewriter.edits().replace(call.begin(), call.end(), module + ".OneDeviceStrategy('/NPU:0')", change);
  return true;
}

const CodeEntry choose("choose_npu", choose_npu), stops("gives_up", gives_up), show("show_none", show_none),
    one("one_device", one_device);

}  // namespace
}  // namespace npu::migrate
