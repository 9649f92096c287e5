// SPDX-License-Identifier: Apache-2.0
// One process per NPU (`distributed`), or a process that is told its NPU (-s): where it finds which, and calls that
// named another.
#include <fmt/format.h>

#include <algorithm>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"
#include "tools/migrate/migration/statement.h"

namespace npu::migrate {
namespace {

using enum Kind;

constexpr const char* kNpu = "import torch_npu";

bool has(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

bool calls(Migration& migration, std::string_view name) {
  const Tree& tree = migration.script.tree();
  for (uint32_t i = 0; i < tree.size(); ++i)
    if (tree.node(i).is(k_call) && migration.script.names().sure_name(tree.node(i).child(Field::k_function)) == name)
      return true;
  return false;
}

/// Whether torch is imported outside functions, so that what stands behind its import is known to the whole file.
bool imports_at_once(Migration& migration) {
  const Tree& tree = migration.script.tree();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const Node node = tree.node(i);
    const bool from = node.is(k_import_from_statement);
    if ((!from && !node.is(k_import_statement)) || SymbolTable::function_around(node)) continue;
    for (const Node each : node.children(from ? Field::k_module_name : Field::k_name)) {
      const std::string_view name = (each.is(k_aliased_import) ? each.child(Field::k_name) : each).text();
      if (name.substr(0, name.find('.')) == "torch") return true;
    }
  }
  return false;
}

/// The lines a process begins with: its rank, its NPU, and the group of all. What the environment says counts first.
std::vector<std::string> first_lines(Migration& migration, bool group) {
  std::vector<std::string> out = {"import os"};
  if (!imports_at_once(migration)) out.push_back(kNpu);
  if (!group) {
    out.push_back("torch_npu.npu.set_device(int(os.environ.get(\"DEVICE_ID\", \"0\")))");
    return out;
  }
  for (const char* line :
       {"import torch.distributed", "os.environ.setdefault(\"RANK\", os.environ.get(\"RANK_ID\", \"0\"))",
        "os.environ.setdefault(\"WORLD_SIZE\", os.environ.get(\"RANK_SIZE\", \"1\"))",
        "os.environ.setdefault(\"MASTER_ADDR\", \"127.0.0.1\")", "os.environ.setdefault(\"MASTER_PORT\", \"29688\")",
        "torch_npu.npu.set_device(int(os.environ.get(\"DEVICE_ID\", "
        "os.environ.get(\"LOCAL_RANK\", \"0\"))))",
        "torch.distributed.init_process_group(\"hccl\")"})
    out.push_back(line);
  return out;
}

Node last_import(Node root) {
  Node out;
  for (const Node statement : root.named())
    if (statement.is(k_import_statement) || statement.is(k_import_from_statement)) out = statement;
  return out;
}

/// Where the program begins: below its main guard, else behind its imports.
bool begin(Migration& migration, const Rule& rule, Node root, size_t) {
  if (!migration.script.concerns("torch")) return false;
  const bool group = migration.script.options().features.contains("distributed");
  if (group ? calls(migration, "torch.distributed.init_process_group") : has(root.text(), "\"DEVICE_ID\"")) {
    if (group && !has(root.text(), "\"RANK_ID\""))
      migration.ledger.note(rule, root, "manual",
                            "the script begins its process group itself; run_distributed_npu.sh gives it "
                            "RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT");
    return false;
  }
  const std::vector<std::string> lines = first_lines(migration, group);
  const Node guard = migration.script.main_guard();
  const Node body = guard ? guard.child(Field::k_consequence) : Node();
  if (body && body.line() > guard.line() && !body.named().empty()) {
    const size_t row = put_before(migration, rule, body.named()[0], lines, "where the program begins");
    if (imports_at_once(migration)) migration.rewriter.need_import(kNpu, row);
  } else if (const Node last = last_import(root)) {
    constexpr const char* kTold = "the program has no main guard: this runs where it is imported, too";
    const size_t row = put_behind(migration, rule, last, lines, kTold);
    if (imports_at_once(migration)) migration.rewriter.need_import(kNpu, row);
  }
  return false;  // the row is its own
}

/// All that may reach here are devices of other kinds: "cpu", "hpu".
bool of_other_kind(Migration& migration, Node device) {
  const auto other = [](const Value& each) {
    return each.is_text() && !each.text.starts_with("cuda") && !each.text.starts_with("npu");
  };
  return device && std::ranges::all_of(migration.script.names().of(device), other);
}

/// What follows the first argument of x.cuda(device, non_blocking, memory_format) keeps its meaning without it.
void name_what_follows(Migration& migration, const Arguments& arguments, size_t change) {
  for (const auto& [position, name] : {std::pair(1, "non_blocking="), std::pair(2, "memory_format=")})
    if (const Node value = arguments.at(position)) migration.rewriter.edits().insert(value.begin(), name, change);
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
  if (way == "second" && of_other_kind(migration, arguments.at(0))) return false;
  if (way != "current") {
    if (way == "gone" && !keyword) name_what_follows(migration, arguments, change);
    arguments.remove(migration, keyword ? keyword : value, change);
    return true;
  }
  if (value.text() == kCurrent || has(value.text(), "DEVICE_ID")) return false;
  migration.rewriter.edits().replace(value.begin(), value.end(), std::string(kCurrent), change);
  return true;
}

/// What every process would write to the same file, unless an `if` around it asks for the rank.
bool saved_once(Migration& migration, const Rule& rule, Node node, size_t) {
  for (Node around = node.parent(); around; around = around.parent())
    if (around.is(k_if_statement) && has(around.child(Field::k_condition).text(), "rank")) return false;
  migration.ledger.note(
      rule, node, "manual",
      "every process writes this file: save where torch.distributed.get_rank() == 0, and let the others "
      "wait at torch.distributed.barrier() before they read it");
  return false;
}

const CodeEntry kBegin("torch-begin", begin), kPin("torch-pin", pin), kSaved("torch-saved-once", saved_once);

}  // namespace
}  // namespace npu::migrate
