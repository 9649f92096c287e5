// SPDX-License-Identifier: Apache-2.0
// What an expression may be, as far as reading tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/migrate/names/access_path.h"

namespace npu::migrate {

/// Where a string literal stands: in which file of the project, and its bytes there.
struct Place {
  int32_t file = -1;
  uint32_t begin = 0, end = 0;
  bool operator==(const Place&) const = default;
};

struct Value {
  enum class Root : uint8_t {
    kLibrary,   ///< a package from elsewhere, the first step of the path
    kProject,   ///< the project that is migrated; its modules come first in the path
    kText,      ///< a string literal
    kConstant,  ///< a number, None, True, False
    kUnknown    ///< anything; the path is the way from there
  };
  Root root = Root::kUnknown;
  bool whole = true;  ///< of a text: all of it, not only how it begins ("cuda:%d" % i)
  uint16_t held = 0;  ///< in how many literal lists or tuples it is: of `[torch.a]` each element is torch.a
  AccessPath path;
  std::string text;  ///< of a text, what it says; of a constant, its source text
  Place origin;      ///< of a text
  bool operator==(const Value&) const = default;

  static Value library(AccessPath path) { return {Root::kLibrary, true, 0, std::move(path), {}, {}}; }
  static Value project(AccessPath path) { return {Root::kProject, true, 0, std::move(path), {}, {}}; }
  static Value unknown(AccessPath way = {}) { return {Root::kUnknown, true, 0, std::move(way), {}, {}}; }
  static Value constant(std::string_view text) { return {Root::kConstant, true, 0, {}, std::string(text), {}}; }

  /// An API or something of the project.
  bool is_name() const { return root == Root::kLibrary || root == Root::kProject; }
  bool is_text() const { return root == Root::kText; }
  bool is_constant() const { return root == Root::kConstant; }
  bool is_unknown() const { return root == Root::kUnknown; }
  bool is_library() const { return root == Root::kLibrary && held == 0; }
  bool is_ours() const { return root == Root::kProject && held == 0; }

  /// What these steps lead to from here; not of texts and constants.
  Value then(Steps steps) const { return {root, true, held, joined(path, steps), {}, {}}; }
  Value then(const Step& step) const { return then(Steps(&step, 1)); }

  /// As rules and reports spell it: "torch.device()", ":package.module.Class().x[]" of the project, "?.cuda" of what is
  /// unknown, "(x" in a literal list; of texts and constants, their text.
  std::string spelled() const;
  /// The same in the place of what `out` holds: places are met by the million.
  void spell_into(std::string& out) const;
  size_t spelled_size() const;
  bool is(std::string_view spelling) const { return spelled_size() == spelling.size() && spelled() == spelling; }
  bool ends_with(std::string_view spelling) const { return spelled().ends_with(spelling); }
};

/// All that an expression may be over branches and loops; never empty after evaluation.
class Values {
 public:
  Values() = default;
  Values(Value value) { add(std::move(value)); }  // NOLINT: one value is a set of one
  void add(Value value);
  void add(const Values& others);
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  /// Whether something unknown is among them.
  bool open() const;
  /// "tensorflow.keras.Model() or "cuda"", for messages.
  std::string spelled() const;

 private:
  static constexpr size_t kMost = 12;  // further ones count as unknown
  std::vector<Value> list_;
};

}  // namespace npu::migrate
