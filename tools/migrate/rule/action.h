// SPDX-License-Identifier: Apache-2.0
// The steps that rules are made of.
#pragma once

#include "tools/migrate/rule/migration.h"

namespace npu::migrate {

/// The arguments of a call, however it passes them.
class Arguments {
 public:
  explicit Arguments(Node call);
  Node at(int position) const;                ///< a positional one, or none; after a * nothing is known by position
  Node keyword(std::string_view name) const;  ///< the keyword_argument, or none
  Node value(int position, std::string_view name) const;  ///< by keyword, else by position
  bool open() const { return open_; }                     ///< has **more
  Node list() const { return list_; }
  /// Adds "name=text" as the last argument (before **more), with the commas that takes.
  void add(Migration& migration, const std::string& text, size_t change) const;
  void remove(Migration& migration, Node argument, size_t change) const;
  /// All other arguments go. False where this one is not there.
  bool keep(Migration& migration, int position, std::string_view name, size_t change) const;

 private:
  Node list_;
  std::vector<Node> positional_, all_;
  bool open_ = false;
};

/// Does one step at a place. False where it does not apply there (the keyword to rename is not there, the literal is
/// another): nothing was edited.
bool act(Migration& migration, const Rule& rule, const Action& action, Node node, size_t change);

/// Rewrites how the literals begin that may reach this expression, here or in the file they stand in: `action.key`
/// becomes `action.text`. False where none stands in the expression itself; others have rows of their own.
bool rewrite_literals(Migration& migration, const Rule& rule, const Action& action, Node expression, size_t change);

/// Puts `text` in the place of how a literal of this file begins; of a device with its number (`numbered`) in that of
/// all of it, where the process has its NPU from the environment.
void put_literal(Migration& migration, const Place& place, bool numbered, const std::string& text, size_t change);

/// {self}, {callee}, {object}, {name} and {first} of a place.
std::string filled(const std::string& text, Node node);

}  // namespace npu::migrate
