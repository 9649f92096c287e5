// SPDX-License-Identifier: Apache-2.0
// What Horovod reduces over all processes in scripts of TensorFlow 2: tensors, gradients of a tape, those of an
// optimizer. A call is rewritten where its arguments say a reduction that npu.distribute has; else it is listed with
// the argument.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"
#include "tools/migrate/migration/statement.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr std::string_view kReduce = "npu.distribute.all_reduce",
                           kWrapper = "npu.distribute.npu_distributed_keras_optimizer_wrapper";

/// The name of a reduction of npu.distribute by Horovod's; "" of others.
std::string_view reduction_of(std::string_view op) {
  static constexpr auto kNames = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"Average", "mean"}, {"Sum", "sum"}, {"Min", "min"}, {"Max", "max"}, {"Product", "prod"}});
  const std::string_view last = op.substr(op.rfind('.') + 1);
  const auto found = std::ranges::find(kNames, last, &std::pair<std::string_view, std::string_view>::first);
  return op.starts_with("horovod.") && found != kNames.end() ? found->second : "";
}

/// Arguments that say how the sum travels, or nothing for a value that is the usual one, and not what it is.
bool is_idle(Node argument) {
  static constexpr auto kIdle = std::to_array<std::string_view>(
      {"name", "compression", "device", "device_dense", "device_sparse", "sparse_as_dense", "use_locking", "num_groups",
       "groups", "gradient_predivide_factor", "average_aggregated_gradients", "op", "average"});
  static constexpr auto kUsual = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"backward_passes_per_step", "1"}, {"prescale_factor", "1.0"}, {"postscale_factor", "1.0"}});
  const std::string_view name = argument.child(Field::k_name).text(), value = argument.child(Field::k_value).text();
  if (std::ranges::find(kIdle, name) != kIdle.end()) return true;
  return std::ranges::find(kUsual, std::pair(name, value)) != kUsual.end();
}

/// What a call of Horovod asks for.
struct Asked {
  std::string reduction;  ///< of npu.distribute; "" where it has none such …
  std::string reason;     ///< … because of this argument
};

/// What `op` says, or the older `average`; without them, or as None, both are the mean.
std::string asked_by(Migration& migration, const Arguments& arguments) {
  const Node op = arguments.value(-1, "op"), average = arguments.value(-1, "average");
  if (op && op.text() != "None") return std::string(reduction_of(migration.script.names().sure_name(op)));
  if (!average || average.text() == "True" || average.text() == "None") return "mean";
  return average.text() == "False" ? "sum" : "";
}

/// `first`: the name of the first argument, which is what is reduced.
Asked asked(Migration& migration, Node call, std::string_view first) {
  const Arguments arguments(call);
  if (!arguments.list().is(k_argument_list) || !arguments.value(0, first)) return {"", "its arguments"};
  for (const Node each : arguments.list().named()) {
    const bool named = each.is(k_keyword_argument);
    if (named && (each.child(Field::k_name).text() == first || is_idle(each))) continue;
    if (each != arguments.at(0)) return {"", std::string(each.text())};
  }
  std::string reduction = asked_by(migration, arguments);
  if (!reduction.empty()) return {std::move(reduction), ""};
  return {"", std::string((arguments.keyword("op") ? arguments.keyword("op") : arguments.keyword("average")).text())};
}

void tell_reason(Migration& migration, const Rule& rule, Node call, const std::string& reason) {
  migration.ledger.note(rule, call, "manual",
                        fmt::format("left as it is: npu.distribute has nothing for {} of `{}`; reduce by {}(values, "
                                    "\"mean\" | \"sum\" | \"min\" | \"max\" | \"prod\") where that is meant",
                                    reason, call.child(Field::k_function).text(), kReduce));
}

/// Another callee, the first argument alone, and `setting` behind it where the reduction is not the mean.
void put_call(Migration& migration, Node call, std::string_view callee, std::string_view first,
              const std::string& setting, size_t change) {
  const Arguments arguments(call);
  Node value = arguments.keyword(first);
  if (!value) value = arguments.at(0);
  const Node function = call.child(Field::k_function);
  migration.rewriter.edits().replace(function.begin(), function.end(), std::string(callee), change);
  arguments.keep(migration, 0, first, change);
  if (!setting.empty()) migration.rewriter.edits().append(value.end(), ", " + setting, change);
}

bool reduced_tensor(Migration& migration, const Rule& rule, Node call, size_t change) {
  const auto [reduction, reason] = asked(migration, call, "tensor");
  if (reduction.empty()) return tell_reason(migration, rule, call, reason), false;
  const Node named = Arguments(call).keyword("tensor");
  if (named) migration.rewriter.edits().replace(named.begin(), named.child(Field::k_value).begin(), "", change);
  put_call(migration, call, kReduce, "tensor", reduction == "mean" ? "" : fmt::format("'{}'", reduction), change);
  return true;
}

bool reduced_optimizer(Migration& migration, const Rule& rule, Node call, size_t change) {
  auto [reduction, reason] = asked(migration, call, "optimizer");
  const Node value = Arguments(call).value(0, "optimizer");
  const auto of_old = [](const Value& each) { return each.spelled().starts_with("tensorflow.compat.v1.train."); };
  if (value && std::ranges::any_of(migration.script.names().of(value), of_old))
    reduction.clear(), reason = "an optimizer of tf.compat.v1.train";
  if (reduction.empty()) return tell_reason(migration, rule, call, reason), false;
  put_call(migration, call, kWrapper, "optimizer", reduction == "mean" ? "" : fmt::format("reduction='{}'", reduction),
           change);
  return true;
}

constexpr std::string_view kTape = ".DistributedGradientTape()";

bool is_gradient_of_tape(Migration& migration, Node call) {
  if (!call.is(k_call)) return false;
  const std::string name = migration.script.names().sure_name(call.child(Field::k_function));
  return name.starts_with("horovod.") && name.ends_with(std::string(kTape) + ".gradient");
}

bool makes_tape(Migration& migration, Node call) {
  if (!call.is(k_call)) return false;
  const std::string name = migration.script.names().sure_name(call.child(Field::k_function));
  return name.starts_with("horovod.") && name.ends_with(kTape.substr(0, kTape.size() - 2));
}

/// A function with tapes of Horovod, or the module, as one: all of its tapes are rewritten with all that asks them, or
/// none. Nothing is taken from a tape whose gradients may be asked for elsewhere.
struct Tapes {
  std::string reduction;  ///< the one of all of them; "" where they are left …
  std::string reason;     ///< … because of this
  std::vector<Node> asking;
};

bool is_assigned(Node call) {
  return call.parent().is(k_assignment) && call.parent().child(Field::k_left).is(k_identifier);
}

Tapes tapes_around(Migration& migration, Node place) {
  const Node function = SymbolTable::function_around(place);
  const Tree& tree = migration.script.tree();
  Tapes out;
  std::optional<std::string> reduction;
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const Node node = tree.node(i);
    if (!node.is(k_call) || SymbolTable::function_around(node) != function) continue;
    if (is_gradient_of_tape(migration, node)) out.asking.push_back(node);
    if (!makes_tape(migration, node)) continue;
    const Asked each = asked(migration, node, "gradtape");
    if (!each.reason.empty()) return {"", each.reason, {}};
    if (reduction.value_or(each.reduction) != each.reduction) return {"", "several reductions", {}};
    if (!is_assigned(node)) return {"", "a tape that is handed on", {}};
    reduction = each.reduction;
  }
  if (!reduction || out.asking.empty()) return {"", "a tape whose gradients are not surely asked for here", {}};
  out.reduction = *reduction;
  return out;
}

/// tape = hvd.DistributedGradientTape(tape) goes: the tape stays what it was.
bool reduced_tape(Migration& migration, const Rule& rule, Node call, size_t change) {
  const Tapes tapes = tapes_around(migration, call);
  if (tapes.reduction.empty()) return tell_reason(migration, rule, call, tapes.reason), false;
  const Node value = Arguments(call).value(0, "gradtape");
  if (call.parent().child(Field::k_left).text() == value.text())
    return drop_statement(migration, call.parent(), change);
  migration.rewriter.edits().replace(call.begin(), value.begin(), "", change);
  migration.rewriter.edits().replace(value.end(), call.end(), "", change);
  return true;
}

/// tape.gradient(…) of such a tape
bool reduced_gradient(Migration& migration, const Rule&, Node call, size_t change) {
  if (!is_gradient_of_tape(migration, call)) return false;
  const Tapes tapes = tapes_around(migration, call);
  if (tapes.reduction.empty()) return false;  // the call that makes the tape is listed
  const std::string behind = tapes.reduction == "mean" ? ")" : fmt::format(", '{}')", tapes.reduction);
  migration.rewriter.edits().wrap(call.begin(), call.end(), std::string(kReduce) + "(", behind, change);
  return true;
}

const CodeEntry kTensor("horovod_allreduce", reduced_tensor), kOptimizer("horovod_optimizer", reduced_optimizer),
    kMadeTape("horovod_tape", reduced_tape), kGradient("horovod_gradient", reduced_gradient);

}  // namespace
}  // namespace npu::migrate
