// SPDX-License-Identifier: Apache-2.0
// The edits of a file, what they need at its head, and what is spoken for: no literal is rewritten twice.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/migrate/names/value.h"
#include "tools/migrate/text/edit.h"
#include "tools/migrate/text/tree.h"

namespace npu::migrate {

class Rewriter {
 public:
  Edits& edits() { return edits_; }
  const Edits& edits() const { return edits_; }
  /// Takes back the edits of a change, and what it needs.
  void drop(size_t change);

  using Needs = std::map<std::string, std::vector<size_t>>;  ///< by line: the changes that need it
  /// A line the file needs at its head; made once, and only if the change survives (kAlways: in any case).
  void need_import(const std::string& line, size_t change) { imports_[line].push_back(change); }
  /// A line right after those imports.
  void need_line(const std::string& line, size_t change) { lines_[line].push_back(change); }
  static constexpr size_t kAlways = static_cast<size_t>(-1);
  const Needs& imports() const { return imports_; }
  const Needs& lines() const { return lines_; }
  /// Of changes that gave way.
  void forget_needs_of(const std::vector<size_t>& dropped);

  /// Whether a literal is met for the first time; it is then taken to mean what the rule says.
  bool take_literal(const Place& place) { return spoken_.literals.insert({place.file, place.begin}).second; }
  bool is_taken(const Place& place) const { return spoken_.literals.contains({place.file, place.begin}); }
  /// True for the first of several places that ask about one node.
  bool meet_once(Node node) { return spoken_.nodes.insert(node.index()).second; }

  /// What is spoken for, to come back to.
  struct Spoken {
    std::set<std::pair<int32_t, uint32_t>> literals;  ///< by file and first byte
    std::set<uint32_t> nodes;
  };
  const Spoken& spoken() const { return spoken_; }
  void back_to(Spoken spoken) { spoken_ = std::move(spoken); }

 private:
  Edits edits_;
  Needs imports_, lines_;
  Spoken spoken_;
};

}  // namespace npu::migrate
