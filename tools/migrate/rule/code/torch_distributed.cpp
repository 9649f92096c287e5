// SPDX-License-Identifier: Apache-2.0
// A script for one GPU trains on several NPUs, one process each: `distributed -m`.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tools/migrate/rule/action.h"
#include "tools/migrate/rule/code.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr const char* kNpu = "import torch_npu";
constexpr const char* kSampler = "from torch.utils.data.distributed import DistributedSampler";
constexpr const char* kParallel = "from torch.nn.parallel import DistributedDataParallel";
constexpr const char* kDevices = "[torch_npu.npu.current_device()]";

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool has(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

std::string indent_of(const Source& source, Node statement) {
  const size_t begin = source.line_begin(statement.line());
  const size_t end = source.bytes().find_first_not_of(" \t", begin);
  return source.bytes().substr(begin, end - begin);
}

Node statement_of(Node node) {
  while (node.parent() && !node.parent().is(k_block) && !node.parent().is(k_module)) node = node.parent();
  return node;
}

/// Lines behind a statement, as deep as it is.
void insert_after(Migration& migration, Node statement, const std::vector<std::string>& lines, size_t row) {
  const Source& source = migration.source();
  const std::string newline(source.newline()), indent = indent_of(source, statement);
  const size_t end = source.bytes().find_first_of("\r\n", statement.end());
  const bool last = end == std::string::npos;
  const size_t at = last ? source.bytes().size() : end + (source.bytes().compare(end, 2, "\r\n") == 0 ? 2 : 1);
  std::string text;
  for (const std::string& line : lines) text += last ? newline + indent + line : indent + line + newline;
  migration.edits().insert(at, text, row);
}

void insert_before(Migration& migration, Node statement, const std::vector<std::string>& lines, size_t row) {
  const std::string behind = std::string(migration.source().newline()) + indent_of(migration.source(), statement);
  std::string text;
  for (const std::string& line : lines) text += line + behind;
  migration.edits().insert(statement.begin(), text, row);
}

size_t row_of(Migration& migration, const Rule& rule, Node node, std::string message) {
  const size_t row = migration.change(rule, node, Change::Kind::kInsert);
  migration.row(row).before.clear();
  migration.row(row).message = std::move(message);
  return row;
}

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

Loader kind_of(Node call) {
  const Arguments arguments(call);
  const Node sampler = arguments.value(3, "sampler"), batches = arguments.value(4, "batch_sampler");
  if ((sampler && !sampler.is(k_none)) || (batches && !batches.is(k_none))) return Loader::kSampled;
  const std::string name = lower(target_of(call));
  if (has(name, "val") || has(name, "test") || has(name, "eval")) return Loader::kOther;
  const Node shuffle = arguments.value(2, "shuffle");
  if (shuffle.is(k_true) || has(name, "train")) return Loader::kTrain;
  return Loader::kOther;
}

/// The training loader reads its share of the data; its sampler shuffles as the loader did.
bool sampler(Migration& migration, const Rule& rule, Node node, size_t change) {
  const Arguments arguments(node);
  const Node data = arguments.value(0, "dataset");
  const Loader kind = kind_of(node);
  if (!data || kind == Loader::kSampled) return false;
  if (kind == Loader::kOther) {
    migration.note(rule, node, "manual",
                   "left as it is: every process reads all of it (as validation should); give it a "
                   "DistributedSampler if it is for training");
    return false;
  }
  const Node shuffle = arguments.value(2, "shuffle"), keyword = arguments.keyword("shuffle");
  const bool simple = data.is(k_identifier) || data.is(k_attribute);
  if (!simple && keyword && keyword.begin() < data.begin()) return false;
  const std::string order = shuffle.is(k_true) ? "" : ", shuffle=" + std::string(shuffle ? shuffle.text() : "False");
  const std::string text = fmt::format("sampler=DistributedSampler({}{})", simple ? data.text() : "npu_dataset", order);
  if (!simple) migration.edits().wrap(data.begin(), data.end(), "(npu_dataset := ", ")", change);
  if (keyword) {
    migration.edits().replace(keyword.begin(), keyword.end(), text, change);
    return true;
  }
  if (shuffle) migration.edits().replace(shuffle.begin(), shuffle.end(), "False", change);
  arguments.add(migration, text, change);
  return true;
}

bool is_loader(Migration& migration, Node node) {
  return node.is(k_call) && migration.names().sure_name(node.child(Field::k_function)) == "torch.utils.data.DataLoader";
}

/// The sampler is told the epoch, or every epoch has the same order.
bool set_epoch(Migration& migration, const Rule& rule, Node root, size_t) {
  std::set<std::string> loaders;
  for (uint32_t i = 0; i < root.past(); ++i)
    if (const Node call = root.tree().node(i); is_loader(migration, call) && kind_of(call) == Loader::kTrain)
      if (call.parent().is(k_assignment)) loaders.emplace(target_of(call));
  for (uint32_t i = 0; i < root.past(); ++i) {
    const Node loop = root.tree().node(i);
    if (!loop.is(k_for_statement) || has(loop.text(), "set_epoch(")) continue;
    const Node left = loop.child(Field::k_left), body = loop.child(Field::k_body);
    if (!left.is(k_identifier) || !has(lower(left.text()), "epoch") || body.line() == loop.line()) continue;
    std::set<std::string> used, passed;
    for (uint32_t k = body.index(); k < body.past(); ++k) {
      const Node node = root.tree().node(k);
      if (!node.is(k_identifier) && !node.is(k_attribute)) continue;
      const std::string text(node.text());
      if (loaders.contains(text) && !node.parent().is(k_attribute)) used.insert(text);
      if (loaders.empty() && node.is(k_identifier) && has(lower(text), "train") && has(lower(text), "loader") &&
          !node.parent().is(k_attribute) && node.field() != Field::k_name)
        passed.insert(text);
    }
    std::vector<std::string> lines;
    for (const std::string& each : used) lines.push_back(fmt::format("{}.sampler.set_epoch({})", each, left.text()));
    for (const std::string& each : passed) {
      lines.push_back(fmt::format("if hasattr({}.sampler, \"set_epoch\"):", each));
      lines.push_back(fmt::format("    {}.sampler.set_epoch({})", each, left.text()));
    }
    if (lines.empty()) continue;
    const size_t row = row_of(migration, rule, body.named()[0], "tell the sampler which epoch begins");
    insert_before(migration, body.named()[0], lines, row);
  }
  return false;  // the rows are its own
}

/// What a DistributedDataParallel has as any module; all else is the module's inside it.
bool is_of_wrapper(std::string_view name) {
  static constexpr std::string_view kNames[] = {"parameters",    "named_parameters",
                                                "train",         "eval",
                                                "zero_grad",     "to",
                                                "cuda",          "npu",
                                                "modules",       "children",
                                                "named_modules", "buffers",
                                                "apply",         "half",
                                                "float",         "training",
                                                "forward",       "module",
                                                "no_sync",       "requires_grad_",
                                                "type",          "double",
                                                "bfloat16",      "device",
                                                "named_children"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

struct Assigned {
  Node scope, statement;
  bool wrapped = false;
};

std::vector<Assigned> assignments(Migration& migration, Node root, const std::string& model) {
  std::vector<Assigned> out;
  const SymbolTable& table = migration.names().table();
  for (uint32_t i = 0; i < root.past(); ++i) {
    const Node node = root.tree().node(i);
    if (!node.is(k_assignment) || node.child(Field::k_left).text() != model) continue;
    const Node value = node.child(Field::k_right), scope = table.scope_of(node);
    if (!value.is(k_call) || scope.is(k_class_definition)) continue;
    Node statement = statement_of(node);
    bool looped = false;
    for (Node at = statement.parent(); at && at != scope; at = at.parent()) {
      looped = looped || at.is(k_for_statement) || at.is(k_while_statement);
      if (at.is(k_if_statement) || at.is(k_try_statement) || at.is(k_with_statement)) statement = at;
    }
    if (looped) continue;
    const bool wrapped = has(value.text(), "DataParallel(");
    const auto known = std::ranges::find(out, scope, &Assigned::scope);
    if (known == out.end())
      out.push_back({scope, statement, wrapped});
    else
      known->statement = statement, known->wrapped = known->wrapped || wrapped;
  }
  return out;
}

bool wrap_model(Migration& migration, const Rule& rule, Node root, size_t) {
  const std::string& model = migration.options().model;
  for (const Assigned& each : assignments(migration, root, model)) {
    const std::string_view after = migration.source().bytes();
    const std::string_view rest = after.substr(each.statement.end(), each.scope.end() - each.statement.end());
    if (each.wrapped || !(has(rest, model + ".parameters(") || has(rest, model + ".train("))) continue;
    const size_t row = row_of(migration, rule, each.statement, "each process trains a copy, gradients are averaged");
    migration.row(row).line = migration.row(row).last_line = each.statement.last_line();
    insert_after(migration, each.statement,
                 {fmt::format("{0} = DistributedDataParallel({0}.npu(), device_ids={1})", model, kDevices)}, row);
    migration.need_import(kNpu, row);
    migration.need_import(kParallel, row);
    for (uint32_t i = each.statement.past(); i < each.scope.past(); ++i) {
      const Node node = root.tree().node(i);
      if (!node.is(k_attribute) || node.child(Field::k_object).text() != model ||
          is_of_wrapper(node.child(Field::k_attribute).text()) ||
          migration.names().table().scope_of(node) != each.scope)
        continue;
      const size_t inside = migration.change_at(rule, node.begin(), node.end());
      migration.row(inside).message = "the wrapper does not hand this on";
      migration.edits().append(node.child(Field::k_object).end(), ".module", inside);
    }
  }
  return false;  // the rows are its own
}

/// nn.DataParallel(net) becomes DistributedDataParallel(net.npu(), device_ids=[…]).
bool data_parallel(Migration& migration, const Rule&, Node node, size_t change) {
  const Arguments arguments(node);
  const Node callee = node.child(Field::k_function), module = arguments.value(0, "module");
  if (!module) return false;
  const bool simple = module.is(k_identifier) || module.is(k_attribute) || module.is(k_call);
  migration.edits().replace(callee.begin(), callee.end(), "DistributedDataParallel", change);
  migration.edits().wrap(module.begin(), module.end(), simple ? "" : "(", simple ? ".npu()" : ").npu()", change);
  if (const Node devices = arguments.value(1, "device_ids"))
    migration.edits().replace(devices.begin(), devices.end(), kDevices, change);
  else
    arguments.add(migration, fmt::format("device_ids={}", kDevices), change);
  for (const char* gone : {"output_device", "dim"})
    if (const Node keyword = arguments.keyword(gone)) arguments.remove(migration, keyword, change);
  return true;
}

/// Where the program begins: which process this is, its NPU, and the group of all.
bool begin(Migration& migration, const Rule& rule, Node root, size_t) {
  const bool group = migration.options().features.contains("distributed");
  if (has(root.text(), group ? "init_process_group(" : "\"DEVICE_ID\"")) {
    if (!has(root.text(), "\"RANK_ID\"") && group)
      migration.note(rule, root, "manual",
                     "the script begins its process group itself; run_distributed_npu.sh gives it "
                     "RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT");
    return false;
  }
  std::vector<std::string> lines = {"import os"};
  if (!migration.imports("torch")) lines.push_back(kNpu);
  if (group) {
    lines.push_back("import torch.distributed");
    for (const auto& [name, other, usual] :
         {std::tuple("RANK", "RANK_ID", "0"), std::tuple("WORLD_SIZE", "RANK_SIZE", "1")})
      lines.push_back(fmt::format("os.environ.setdefault(\"{}\", os.environ.get(\"{}\", \"{}\"))", name, other, usual));
    lines.push_back("os.environ.setdefault(\"MASTER_ADDR\", \"127.0.0.1\")");
    lines.push_back("os.environ.setdefault(\"MASTER_PORT\", \"29688\")");
    lines.push_back(
        "torch_npu.npu.set_device(int(os.environ.get(\"DEVICE_ID\", os.environ.get(\"LOCAL_RANK\", \"0\"))))");
    lines.push_back("torch.distributed.init_process_group(\"hccl\")");
  } else {
    lines.push_back("torch_npu.npu.set_device(int(os.environ.get(\"DEVICE_ID\", \"0\")))");
  }
  const Node guard = migration.main_guard();
  const Node body = guard ? guard.child(Field::k_consequence) : Node();
  if (body && body.line() > guard.line() && !body.named().empty()) {
    const size_t row = row_of(migration, rule, body.named()[0], "where the program begins");
    insert_before(migration, body.named()[0], lines, row);
    migration.need_import(kNpu, row);
    return false;
  }
  Node last;
  for (const Node statement : root.named())
    if (statement.is(k_import_statement) || statement.is(k_import_from_statement)) last = statement;
  if (!last) return false;
  const size_t row =
      row_of(migration, rule, last, "the program has no main guard: this runs where it is imported, too");
  insert_after(migration, last, lines, row);
  migration.need_import(kNpu, row);
  return false;  // the row is its own
}

/// The number of a device gives way to the process's own: x.npu(), set_device(current).
bool pin(Migration& migration, const Rule& rule, Node node, size_t change) {
  const Arguments arguments(node);
  const std::string& way = rule.actions[0].after;  // "gone", "second" (goes) or "current"
  const int position = way == "second" ? 1 : 0;
  const Node keyword = arguments.keyword(way == "second" ? "index" : "device");
  const Node value = keyword ? keyword.child(Field::k_value) : arguments.at(position);
  if (!value || value.is(k_list_splat) || value == arguments.list()) return false;
  constexpr std::string_view kCurrent = "torch_npu.npu.current_device()";
  if (way != "current") {
    arguments.remove(migration, keyword ? keyword : value, change);
    return true;
  }
  if (value.text() == kCurrent || has(value.text(), "DEVICE_ID")) return false;
  migration.edits().replace(value.begin(), value.end(), std::string(kCurrent), change);
  return true;
}

const CodeEntry kSample("torch-sampler", sampler), kEpoch("torch-set-epoch", set_epoch),
    kWrap("torch-wrap-model", wrap_model), kDataParallel("torch-data-parallel", data_parallel),
    kBegin("torch-begin", begin), kPin("torch-pin", pin);

}  // namespace
}  // namespace npu::migrate
