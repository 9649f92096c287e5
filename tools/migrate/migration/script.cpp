// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/script.h"

#include <algorithm>

#include "tools/migrate/names/known.h"
#include "tools/migrate/names/program_reader.h"
#include "tools/migrate/text/import_line.h"
#include "tools/migrate/text/words.h"

namespace npu::migrate {

using enum Kind;

Script::Script(const Source& source, const PackedTree* packed, const Project& project, std::string path, int32_t file,
               const Options& options, ProgramMap::Part part)
    : tree_(source, packed), options_(options), names_(tree_, project, std::move(path), file, true), part_(part) {
  gather_imports();
}

void Script::gather_imports() {
  for (uint32_t i = 0; i < tree_.size(); ++i) {
    const Node node = tree_.node(i);
    if (!node.is(k_import_statement) && !node.is(k_import_from_statement)) continue;
    if (const Node module = node.child(Field::k_module_name)) {
      frameworks_.insert(std::string(module.text().substr(0, module.text().find('.'))));
      continue;
    }
    for (const Node each : node.children(Field::k_name)) {
      const std::string_view name = each.is(k_aliased_import) ? each.child(Field::k_name).text() : each.text();
      frameworks_.insert(std::string(name.substr(0, name.find('.'))));
    }
  }
  // A framework's second name counts as itself: keras is tensorflow.
  for (const std::string& name : std::set<std::string>(frameworks_)) {
    const std::string known = known_names().canonical(name);
    frameworks_.insert(known.substr(0, known.find('.')));
  }
}

bool Script::has_import(const std::string& line) const {
  if (const ImportLine wanted = parsed_import(line);
      !wanted.bound.empty() && (line.starts_with("import ") || line.starts_with("from ")))
    for (const Binding* binding : names_.table().all(wanted.bound, tree_.root()))
      if (binding->how == Binding::How::kImport && binding->level == 0 && binding->dotted == wanted.dotted) return true;
  for (const Node statement : tree_.root().named()) {
    if (squeezed(statement.text()) == squeezed(line)) return true;
    if (statement.is(k_expression_statement) || statement.is(k_import_statement)) continue;
    for (const Node inner : statement.named())  // inside try: or if:
      if (inner.is(k_block))
        for (const Node each : inner.named())
          if (squeezed(each.text()) == squeezed(line)) return true;
  }
  return false;
}

std::string Script::taken_name(const std::string& line, Node node) const {
  const ImportLine wanted = parsed_import(line);
  if (wanted.bound.empty()) return "";
  for (const Binding* binding : names_.table().reaching(wanted.bound, node))
    if (binding->how != Binding::How::kImport || binding->level != 0 || binding->dotted != wanted.dotted)
      return wanted.bound;
  return "";
}

Node Script::main_guard() const { return migrate::main_guard(tree_); }

bool Script::is_entry() const {
  // A notebook begins by itself, whatever else is there; but no process of several does.
  if (names_.path().ends_with(".ipynb") && !options_.features.contains("distributed")) return true;
  return options_.main.empty() ? options_.alone || main_guard() : names_.path() == options_.main;
}

bool Script::concerns(std::string_view framework) const {
  if (imports(framework) || framework != "torch") return imports(framework);
  const bool of_processes = options_.features.contains("distributed") || options_.features.contains("specify-device");
  // Where no file was named, a main guard below TensorFlow begins a program of TensorFlow.
  return of_processes && is_entry() && !(options_.main.empty() && imports("tensorflow"));
}

bool Script::begins_tensorflow() const {
  return options_.whole ? part_.begins
                        : is_entry() && (imports("tensorflow") || !options_.main.empty()) && may_use_tensorflow();
}

/// A file that imports no framework may begin a program of either; what the other files import tells.
bool Script::may_use_tensorflow() const {
  return imports("tensorflow") ||
         (!imports("torch") && (!options_.features.contains("torch") || names_.project().uses_tensorflow()));
}

}  // namespace npu::migrate
