// SPDX-License-Identifier: Apache-2.0
// `distributed`: each process reads its share of the training data, in another order in every epoch.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"
#include "tools/migrate/migration/statement.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr std::string_view kLoader = "torch.utils.data.DataLoader";

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool has(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

/// What a loader is called: the variable it is given to, the key, the keyword.
std::string_view target_of(Node call) {
  for (Node node = call; node && !node.is(k_block) && !node.is(k_module); node = node.parent()) {
    if (node.is(k_assignment)) return node.child(Field::k_left).text();
    if (node.is(k_pair)) return node.child(Field::k_key).text();
    if (node.is(k_keyword_argument)) return node.child(Field::k_name).text();
    if (node.is(k_for_statement)) return "";
  }
  return "";
}

enum class Loader { kTrain, kOther, kSampled };

bool says_other(std::string_view name) { return has(name, "val") || has(name, "test") || has(name, "eval"); }

/// "" where a damaged file has nothing there.
std::string_view text_of(Node node) { return node ? node.text() : ""; }

/// The name of the function a node stands in; "" at the file's top.
std::string function_of(Node node) {
  for (node = node.parent(); node; node = node.parent())
    if (node.is(k_function_definition)) return lower(text_of(node.child(Field::k_name)));
  return "";
}

/// Whether what is read, or the function that makes the loader, is called after training: `ImageFolder(train_dir)`,
/// `MNIST(train=True)`, `def train_loader()`. None where neither tells.
std::optional<bool> told_by_data(Node call) {
  std::string data = lower(text_of(Arguments(call).value(0, "dataset")));
  std::erase(data, ' ');
  if (has(data, "train=false")) return false;
  for (const std::string& text : {data, function_of(call)})
    if (says_other(text) || has(text, "train")) return !says_other(text);
  return {};
}

bool learns(Node body) {
  const std::string text = lower(text_of(body));
  return has(text, ".backward(") || has(text, ".step(") || has(text, "apply_gradients");
}

/// Whether the name is read in this expression, as itself.
bool mentions(Node expression, std::string_view name) {
  for (uint32_t i = expression ? expression.index() : 0; expression && i < expression.past(); ++i)
    if (expression.tree().node(i).text() == name) return true;
  return false;
}

/// Whether the file trains from what is called so: a loop through it learns, or a function that is called after
/// training gets it.
bool is_trained_from(Node call, std::string_view name) {
  if (name.empty()) return false;
  for (uint32_t i = 0; i < call.tree().root().past(); ++i) {
    const Node node = call.tree().node(i);
    if (node.is(k_for_statement) && mentions(node.child(Field::k_right), name) && learns(node.child(Field::k_body)))
      return true;
    if (!node.is(k_call)) continue;
    const std::string called = lower(text_of(node.child(Field::k_function)));
    if ((has(called, "train") || has(called, "fit")) && !says_other(called) &&
        mentions(node.child(Field::k_arguments), name))
      return true;
  }
  return false;
}

Loader kind_of(Node call) {
  const Arguments arguments(call);
  const Node sampler = arguments.value(3, "sampler"), batches = arguments.value(4, "batch_sampler");
  if ((sampler && !sampler.is(k_none)) || (batches && !batches.is(k_none))) return Loader::kSampled;
  const std::string_view target = target_of(call);
  const std::string name = lower(target);
  if (says_other(name)) return Loader::kOther;
  if (arguments.value(2, "shuffle").is(k_true) || has(name, "train")) return Loader::kTrain;
  return told_by_data(call).value_or(is_trained_from(call, target)) ? Loader::kTrain : Loader::kOther;
}

/// May be written twice: reading it does nothing.
bool is_plain(Node data) {
  if (data.is(k_subscript)) return is_plain(data.child(Field::k_value)) && is_plain(data.child(Field::k_subscript));
  return data.is(k_identifier) || data.is(k_attribute) || data.is(k_string) || data.is(k_integer);
}

/// Why a loader gets no sampler; "" where it does, or needs none.
std::string reason_to_leave(Migration& migration, Node call) {
  const Arguments arguments(call);
  const Loader kind = kind_of(call);
  const Node data = arguments.value(0, "dataset"), shuffle = arguments.value(2, "shuffle");
  if (kind == Loader::kSampled) {
    Node given = arguments.value(3, "sampler");
    if (!given || given.is(k_none)) given = arguments.value(4, "batch_sampler");
    const bool open = migration.script.names().of(given).open();
    return open || has(migration.script.names().of(given).spelled(), "Distributed") || has(given.text(), "istributed")
               ? ""
               : "left as it is: it has a sampler of its own, and every process draws from all of the data";
  }
  if (kind == Loader::kOther)
    return "left as it is: every process reads all of it (as validation should); give it a DistributedSampler if it is "
           "for training";
  if (!data || (arguments.open() && !shuffle))
    return "left as it is: what ** holds may be shuffle, which goes with no sampler; take it out there, and give "
           "sampler=DistributedSampler(dataset) here";
  const Node keyword = arguments.keyword("shuffle");
  return !is_plain(data) && keyword && keyword.begin() < data.begin()
             ? "left as it is: give the dataset a name, then sampler=DistributedSampler(name) here, without shuffle"
             : "";
}

/// The training loader reads its share of the data; its sampler shuffles and leaves out as the loader did.
bool sampler(Migration& migration, const Rule& rule, Node node, size_t change) {
  if (const std::string reason = reason_to_leave(migration, node); !reason.empty())
    migration.ledger.note(rule, node, "manual", reason);
  if (kind_of(node) != Loader::kTrain || !reason_to_leave(migration, node).empty()) return false;
  const Arguments arguments(node);
  const Node data = arguments.value(0, "dataset"), shuffle = arguments.value(2, "shuffle");
  const Node keyword = arguments.keyword("shuffle"), dropped = arguments.keyword("drop_last");
  const bool plain = is_plain(data);
  std::string text = fmt::format("sampler=DistributedSampler({}", plain ? data.text() : "npu_dataset");
  if (!shuffle.is(k_true)) text += fmt::format(", shuffle={}", shuffle ? shuffle.text() : "False");
  if (dropped) text += fmt::format(", {}", dropped.text());  // else it repeats samples, so that all have as many
  text += ")";
  if (!plain) migration.rewriter.edits().wrap(data.begin(), data.end(), "(npu_dataset := ", ")", change);
  migration.ledger.row(change).message =
      "each process sees its share; together they take batch_size times their number of samples a step";
  if (keyword) {
    migration.rewriter.edits().replace(keyword.begin(), keyword.end(), text, change);
    return true;
  }
  if (shuffle) migration.rewriter.edits().replace(shuffle.begin(), shuffle.end(), "False", change);
  arguments.add(migration, text, change);
  return true;
}

// ---- the epoch

/// The training loaders that this file makes, by what they are given to.
std::set<std::string> own_loaders(Migration& migration, Node root) {
  std::set<std::string> out;
  for (uint32_t i = 0; i < root.past(); ++i) {
    const Node call = root.tree().node(i);
    if (call.is(k_call) && call.parent().is(k_assignment) &&
        migration.script.names().sure_name(call.child(Field::k_function)) == kLoader &&
        kind_of(call) == Loader::kTrain && reason_to_leave(migration, call).empty())
      out.emplace(target_of(call));
  }
  return out;
}

/// Whether a loop goes through epochs: its variable or what it goes through says so.
bool is_over_epochs(Node loop) {
  const Node left = loop.child(Field::k_left);
  return left.is(k_identifier) &&
         (has(lower(left.text()), "epoch") || has(lower(loop.child(Field::k_right).text()), "epoch"));
}

struct Uses {
  std::set<std::string> sure;     ///< have a DistributedSampler
  std::set<std::string> perhaps;  ///< are loaders, or called so
  bool inside = false;            ///< one is made, or chosen, only inside the loop
};

bool may_be_loader(Migration& migration, Node node) {
  const std::string name = lower(node.text());
  if (node.is(k_identifier) && has(name, "train") && has(name, "loader")) return true;
  return std::ranges::any_of(migration.script.names().of(node), [](const Value& value) {
    return value.is_name() && value.is("torch.utils.data.DataLoader()");
  });
}

bool bound_inside(Migration& migration, Node name, Node body) {
  while (name.is(k_attribute) || name.is(k_subscript))
    name = name.child(name.is(k_attribute) ? Field::k_object : Field::k_value);
  return std::ranges::any_of(migration.script.names().table().reaching(name.text(), name), [&](const Binding* binding) {
    return binding->node.index() >= body.index() && binding->node.index() < body.past();
  });
}

Uses loaders_in(Migration& migration, Node body, const std::set<std::string>& own) {
  Uses out;
  for (uint32_t i = body.index(); i < body.past(); ++i) {
    const Node node = body.tree().node(i);
    const bool reads = node.is(k_subscript) || node.is(k_attribute) ||
                       (node.is(k_identifier) && node.field() != Field::k_attribute && node.field() != Field::k_left);
    if (!reads || (node.parent().is(k_attribute) && node.field() == Field::k_object)) continue;
    if (node.parent().is(k_keyword_argument) && node.field() == Field::k_name) continue;
    const std::string text(node.text());
    const bool mine = own.contains(text);
    if (!mine && !may_be_loader(migration, node)) continue;
    if (bound_inside(migration, node, body) || node.is(k_subscript))
      out.inside = true;
    else
      (mine ? out.sure : out.perhaps).insert(text);
  }
  return out;
}

/// Whether something is trained in a loop, as far as its text tells.
bool trains(Node body) {
  const std::string text = lower(body.text());
  return has(text, "train") || has(text, ".backward(") || has(text, ".step(");
}

/// Whether lines were put there.
bool put_epoch(Migration& migration, const Rule& rule, Node first, std::string_view epoch, const Uses& uses) {
  if (epoch == "_") return false;
  std::vector<std::string> lines;
  for (const std::string& each : uses.sure) lines.push_back(fmt::format("{}.sampler.set_epoch({})", each, epoch));
  for (const std::string& each : uses.perhaps) {
    lines.push_back(fmt::format("if hasattr(getattr({}, \"sampler\", None), \"set_epoch\"):", each));
    lines.push_back(fmt::format("    {}.sampler.set_epoch({})", each, epoch));
  }
  if (!lines.empty()) put_before(migration, rule, first, lines, "tell the sampler which epoch begins");
  return !lines.empty();
}

/// Loops over epochs that no sampler is told of yet, and the loaders that are told of theirs.
struct Epochs {
  std::vector<Node> open;
  std::set<std::string> told, tellers;  // tellers: functions that tell
};

Epochs tell_in_loops(Migration& migration, const Rule& rule, Node root, const std::set<std::string>& own) {
  Epochs out;
  for (uint32_t i = 0; i < root.past(); ++i) {
    const Node loop = root.tree().node(i), body = loop.child(Field::k_body);
    if (!loop.is(k_for_statement) || !is_over_epochs(loop) || has(loop.text(), "set_epoch(")) continue;
    if (body.line() == loop.line() || body.named().empty()) continue;
    const Uses uses = loaders_in(migration, body, own);
    const bool put = put_epoch(migration, rule, body.named()[0], loop.child(Field::k_left).text(), uses);
    if (put) out.told.insert(uses.sure.begin(), uses.sure.end());
    if ((!put && trains(body)) || uses.inside) out.open.push_back(loop);
  }
  return out;
}

/// The parameter that says the epoch, or "".
std::string_view epoch_parameter(Node function) {
  for (const Node each : function.child(Field::k_parameters).named())
    if (each.is(k_identifier) && has(lower(each.text()), "epoch") && !has(lower(each.text()), "epochs"))
      return each.text();
  return "";
}

/// `def train(epoch)` that goes through the file's loader.
void tell_in_functions(Migration& migration, const Rule& rule, Node root, const std::set<std::string>& own,
                       Epochs& epochs) {
  for (uint32_t i = 0; i < root.past(); ++i) {
    const Node function = root.tree().node(i), body = function.child(Field::k_body);
    if (!function.is(k_function_definition) || epoch_parameter(function).empty() || body.line() == function.line())
      continue;
    const std::string name(function.child(Field::k_name).text());
    if (has(body.text(), ".set_epoch(")) epochs.tellers.insert(name);
    if (has(body.text(), ".set_epoch(") || body.named().empty()) continue;
    Uses uses = loaders_in(migration, body, own);
    uses.perhaps.clear();
    std::erase_if(uses.sure, [&](const std::string& each) { return epochs.told.contains(each); });
    const std::vector<Node> statements = body.named();
    const bool documented = statements[0].is(k_expression_statement) && statements[0].named()[0].is(k_string);
    const Node first = statements[documented && statements.size() > 1 ? 1 : 0];
    if (put_epoch(migration, rule, first, epoch_parameter(function), uses)) epochs.tellers.insert(name);
  }
}

bool calls_one_of(Node body, const std::set<std::string>& names) {
  for (uint32_t i = body.index(); i < body.past(); ++i)
    if (const Node call = body.tree().node(i);
        call.is(k_call) && names.contains(std::string(call.child(Field::k_function).text())))
      return true;
  return false;
}

/// The sampler is told the epoch, or every epoch has the same order.
bool set_epoch(Migration& migration, const Rule& rule, Node root, size_t) {
  const std::set<std::string> own = own_loaders(migration, root);
  Epochs epochs = tell_in_loops(migration, rule, root, own);
  tell_in_functions(migration, rule, root, own, epochs);
  for (const Node loop : epochs.open)
    if (const Node body = loop.child(Field::k_body); !calls_one_of(body, epochs.tellers))
      migration.ledger.note(
          rule, body.named()[0], "manual",
          "nothing tells which loader this loop trains from: call loader.sampler.set_epoch(epoch) of each "
          "DataLoader with a DistributedSampler where an epoch begins, or every epoch has the same order");
  return false;  // the rows are its own
}

const CodeEntry kSample("torch-sampler", sampler), kEpoch("torch-set-epoch", set_epoch);

}  // namespace
}  // namespace npu::migrate
