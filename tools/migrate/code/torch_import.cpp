// SPDX-License-Identifier: Apache-2.0
// Names of torch that are torch_npu's after migration: where imports get them from, and how the rest names them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/migrate/migration/code.h"
#include "tools/migrate/names/known.h"

namespace npu::migrate {
namespace {

using enum Kind;

/// Where a name is imported from, and what it is called there.
struct Home {
  std::string module, name;
};

bool is_excepted(const Rule& rule, const std::string& name) {
  return std::ranges::any_of(rule.except, [&](const std::string& pattern) { return matches(pattern, name); });
}

/// A submodule is imported by torch_npu's own name: as torch.npu.amp it would be loaded a second time, with classes of
/// its own.
Home new_home(const Rule& rule, const std::string& module, const std::string& name) {
  const std::string whole = module + "." + name;
  if (is_excepted(rule, whole)) return {module, name};
  if (module == "torch" && name == "cuda") return {"torch", "npu"};
  if (whole == "torch.cuda.OutOfMemoryError" || whole == "torch.cuda.AcceleratorError") return {"torch", name};
  if (whole == "torch.cuda.amp.GradScaler" || whole == "torch.cuda.amp.grad_scaler.GradScaler")
    return {"torch.amp", name};
  if (module == "torch.cuda") return {"torch.npu", name};
  if (module.starts_with("torch.cuda.")) return {"torch_npu.npu" + module.substr(10), name};
  if (module.starts_with("apex.normalization") && name == "FusedLayerNorm") return {"torch.nn", "LayerNorm"};
  if (whole == "torch.distributed.is_nccl_available") return {"torch_npu.distributed", "is_hccl_available"};
  return {module, name};
}

struct Item {
  Node node;  ///< with its alias
  Home home;
  std::string text;  ///< as it is imported from its new home
};

std::vector<Item> items_of(const Rule& rule, Node statement, const std::string& module) {
  std::vector<Item> out;
  for (const Node each : statement.children(Field::k_name)) {
    const bool aliased = each.is(k_aliased_import);
    const std::string name((aliased ? each.child(Field::k_name) : each).text());
    Home home = new_home(rule, module, name);
    const std::string bound(aliased ? each.child(Field::k_alias).text() : name);
    std::string text = bound == home.name ? home.name : home.name + " as " + bound;
    out.push_back({each, std::move(home), std::move(text)});
  }
  return out;
}

/// Takes a name out of the list of an import, with the comma that goes with it.
void take_out(Migration& migration, Node statement, Node item, size_t change) {
  const std::vector<Node> parts = statement.children();
  const auto found = std::ranges::find(parts, item);
  const auto comma = [](Node node) { return node.is(kToken) && node.text() == ","; };
  size_t begin = item.begin(), end = item.end();
  if (found + 1 != parts.end() && comma(*(found + 1))) {
    const std::string& bytes = migration.script.source().bytes();
    end = std::min(bytes.find_first_not_of(" \t\r\n", (found + 1)->end()), bytes.size());
    if (bytes[end] == '#') end = (found + 1)->end();  // a comment stays on its line
  } else if (found != parts.begin() && comma(*(found - 1))) {
    begin = (found - 1)->begin();
  }
  migration.rewriter.edits().replace(begin, end, "", change);
}

bool import_from(Migration& migration, const Rule& rule, Node statement, size_t change) {
  const Node module = statement.child(Field::k_module_name);
  const std::string from(module.text());
  const std::vector<Item> items = items_of(rule, statement, from);
  if (items.empty()) {  // from torch.cuda import *
    const Home home = new_home(rule, from, "*");
    if (home.module == from) return false;
    migration.rewriter.edits().replace(module.begin(), module.end(), home.module, change);
    return true;
  }
  const bool together =
      std::ranges::all_of(items, [&](const Item& item) { return item.home.module == items[0].home.module; });
  std::map<std::string, std::string> lines;  // by module: the names that go there
  bool done = false;
  for (const Item& item : items) {
    const Node name = item.node.is(k_aliased_import) ? item.node.child(Field::k_name) : item.node;
    if (together && item.home.name != name.text()) {  // `nn as nn` stays so: it says that the name is given on
      migration.rewriter.edits().replace(item.node.begin(), item.node.end(), item.text, change);
      done = true;
    }
    if (together || item.home.module == from) continue;
    std::string& line = lines[item.home.module];
    line += (line.empty() ? "" : ", ") + item.text;
  }
  if (together) {
    if (items[0].home.module == from) return done;
    migration.rewriter.edits().replace(module.begin(), module.end(), items[0].home.module, change);
    return true;
  }
  const std::string& bytes = migration.script.source().bytes();
  const size_t line_begin = migration.script.source().line_begin(statement.line());
  const bool first = bytes.find_first_not_of(" \t", line_begin) == statement.begin();
  const std::string behind = first ? std::string(migration.script.source().newline()) +
                                         bytes.substr(line_begin, statement.begin() - line_begin)
                                   : "; ";
  std::string text;
  for (const auto& [home, names] : lines) text += fmt::format("from {} import {}{}", home, names, behind);
  const bool all = std::ranges::all_of(items, [&](const Item& item) { return item.home.module != from; });
  if (all) {
    text.resize(text.size() - behind.size());
    migration.rewriter.edits().replace(statement.begin(), statement.end(), text, change);
    return true;
  }
  migration.rewriter.edits().insert(statement.begin(), text, change);
  for (const Item& item : items)
    if (item.home.module != from) take_out(migration, statement, item.node, change);
  return true;
}

/// `import torch.cuda`, `import torch.cuda.amp as amp`.
bool import_module(Migration& migration, const Rule& rule, Node name, size_t change) {
  const std::string module(name.text());
  if (module != "torch.cuda" && !module.starts_with("torch.cuda.")) return false;
  if (is_excepted(rule, module)) return false;
  const bool aliased = name.parent().is(k_aliased_import);
  // Without an alias it is `torch` that is bound, and torch.npu has its submodules anyway.
  const std::string text = aliased && module != "torch.cuda" ? "torch_npu.npu" + module.substr(10) : "torch.npu";
  migration.rewriter.edits().replace(name.begin(), name.end(), text, change);
  return true;
}

bool import(Migration& migration, const Rule& rule, Node node, size_t change) {
  const Node from = node.above(k_import_from_statement);
  if (!from) return import_module(migration, rule, node, change);
  return migration.rewriter.meet_once(from) && import_from(migration, rule, from, change);
}

/// An import that nothing in the file needs goes, with its line; in a block of its own it leaves `pass`.
bool remove(Migration& migration, const Rule& rule, Node node, size_t change) {
  const Node statement = node.above(k_import_statement);
  if (!statement) return false;
  const Tree& tree = node.tree();
  for (uint32_t i = 0; i < tree.size(); ++i)
    if (const Node use = tree.node(i); use.is(k_identifier) && use.text() == node.text() && use.parent() != node) {
      migration.ledger.note(rule, node, "unsupported",
                            fmt::format("{} is used in this file and is not there on the NPU; "
                                        "take its uses out, then the import",
                                        node.text()));
      return false;
    }
  if (statement.children(Field::k_name).size() > 1) {
    take_out(migration, statement, node, change);
    return true;
  }
  const std::string& bytes = migration.script.source().bytes();
  const size_t begin = migration.script.source().line_begin(statement.line());
  const size_t end = bytes.find_first_of("\r\n", statement.end());
  const bool alone = bytes.find_first_not_of(" \t", begin) == statement.begin() && end == statement.end();
  if (!alone || statement.parent().named().size() == 1)
    migration.rewriter.edits().replace(statement.begin(), statement.end(), "pass", change);
  else
    migration.rewriter.edits().replace(begin, end + (bytes.compare(end, 2, "\r\n") == 0 ? 2 : 1), "", change);
  return true;
}

/// `torch.cuda` in `torch.cuda.x` and `torch.cuda.x.y`, unless the rule leaves that name alone.
bool cuda(Migration& migration, const Rule& rule, Node node, size_t change) {
  if (!node.is(k_attribute) || node.child(Field::k_attribute).text() != "cuda") return false;
  std::string whole = "torch.cuda";
  for (Node at = node; at.parent().is(k_attribute) && at.field() == Field::k_object; at = at.parent()) {
    whole += "." + std::string(at.parent().child(Field::k_attribute).text());
    if (is_excepted(rule, whole)) return false;
  }
  const Node name = node.child(Field::k_attribute);
  migration.rewriter.edits().replace(name.begin(), name.end(), "npu", change);
  return true;
}

/// torch.Tensor.cuda as a value; of a call the name is another rule's.
bool method(Migration& migration, const Rule&, Node node, size_t change) {
  if (!node.is(k_attribute) || (node.parent().is(k_call) && node.field() == Field::k_function)) return false;
  const Node name = node.child(Field::k_attribute);
  migration.rewriter.edits().replace(name.begin(), name.end(), "npu", change);
  return true;
}

/// torch.cuda.OutOfMemoryError is torch's own by a shorter name.
bool without_cuda(Migration& migration, const Rule&, Node node, size_t change) {
  const Node object = node.child(Field::k_object);
  if (!object.is(k_attribute)) return false;
  migration.rewriter.edits().replace(object.child(Field::k_object).end(), object.end(), "", change);
  return true;
}

const CodeEntry kRemove("torch-remove-import", remove), kImport("torch-import", import), kCuda("torch-cuda", cuda),
    kShort("torch-without-cuda", without_cuda), kMethod("torch-method", method);

}  // namespace
}  // namespace npu::migrate
