// SPDX-License-Identifier: Apache-2.0
// The arguments of a call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/migrate/migration/migration.h"

namespace npu::migrate {

/// However the call passes them.
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

}  // namespace npu::migrate
