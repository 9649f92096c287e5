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
  /// The one name an expression surely is, as rules spell it, or "".
  std::string sure_name(Node expression);
  /// What this file gives to others.
  Exports exports();

  /// Names of the parameters of the project's function or class that `function` surely names, the object itself left
  /// out; none where that is not known.
  std::vector<std::string> parameters(Node function);
  /// Whether a call declares an option of a command line, as argparse, click and absl have it: the option's name as a
  /// variable ("device" of "--device"), "" where it declares none.
  static std::string option(Node call);

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
  void export_function(Exports& out, const AccessPath& name, Node function);
  void export_class(Exports& out, Node type);
  Values known(Value name);
  Values element(const Values& values);
  // names/evaluate_data.cpp: dictionaries, options and what is passed to functions.
  Value of_dictionary(Node node) const;
  Values of_entry(const Value& dictionary, std::string_view key);
  Values of_subscript(Node subscript);
  Values of_option(const Value& object, Node node);
  Values of_default(Node call);
  Values passed(const Binding& parameter);
  void index_calls();
  void export_data(Exports& exports);

  const Tree& tree_;
  const Project& project_;
  const std::string path_;
  const AccessPath module_;
  const int32_t file_;
  const bool follows_;
  SymbolTable table_;
  std::vector<uint32_t> place_;  // of every node: 0 not asked, 1 being asked, else its place in done_
  std::deque<Values> done_;
  std::unordered_map<uint32_t, Values> returned_;
  bool indexed_ = false;                                        // the next two are made when they are first asked for
  std::unordered_map<std::string, std::vector<Node>> calls_;    // by the callee's last name
  std::unordered_map<std::string, std::vector<Node>> options_;  // by variable: what they may be
  int depth_ = 0;
};

}  // namespace npu::migrate
