// SPDX-License-Identifier: Apache-2.0
// What the expressions of one file may be: its symbol table, asked together with what other files export.
#pragma once

#include <deque>
#include <unordered_map>

#include "tools/migrate/names/project.h"
#include "tools/migrate/names/symbol_table.h"

namespace npu::migrate {

class Evaluator {
 public:
  /// `path` is the file's below the input, `file` its number there. `follows`: names of the project are followed, which
  /// Project::settle() must have prepared.
  Evaluator(const Tree& tree, const Project& project, std::string path, int32_t file, bool follows);

  /// Never empty; unknown where reading does not tell. Stays valid as long as the evaluator.
  const Values& of(Node expression);
  /// The one dotted name an expression surely is, or "".
  std::string sure_name(Node expression);
  /// What this file gives to others.
  Exports exports();

  const SymbolTable& table() const { return table_; }
  const Tree& tree() const { return tree_; }
  const Project& project() const { return project_; }
  const std::string& path() const { return path_; }
  int32_t file() const { return file_; }

 private:
  Values made(Node expression);
  Values of_name(Node name);
  Values of_bindings(const std::vector<const Binding*>& bindings);
  Values of_binding(const Binding& binding);
  Values of_import(const Binding& binding);
  Values of_definition(Node definition);
  Values of_self(Node type, std::string_view attribute);
  Values of_attribute(Node attribute);
  Values of_call(Node call);
  Values of_string(Node string);
  Values of_annotation(Node type);
  Values of_super(Node call);
  Values of_place(const Binding& binding);
  Values returned(Node function);
  std::vector<Values> returned_row(Node function);
  void export_function(Exports& out, const std::string& name, Node function);
  void export_class(Exports& out, Node type);
  Values known(std::string name);
  Values element(const Values& values);

  const Tree& tree_;
  const Project& project_;
  const std::string path_, module_;
  const int32_t file_;
  const bool follows_;
  SymbolTable table_;
  std::vector<uint32_t> place_;  // of every node: 0 not asked, 1 being asked, else its place in done_
  std::deque<Values> done_;
  std::unordered_map<uint32_t, Values> returned_;
  int depth_ = 0;
};

}  // namespace npu::migrate
