// SPDX-License-Identifier: Apache-2.0
// STRING_IDS: names, types and shapes are numbers in all other tables.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/profile/export/sqlite.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {

/// In columns of models and contexts, where there is none.
inline constexpr int64_t kNobody = 4294967295;

class StringIds {
 public:
  int64_t of(std::string_view text);
  void write(Database& database) const;

 private:
  std::unordered_map<std::string, int64_t> ids_;
};

/// Those of a collection: most texts come often, and are found by their number in it.
class TextIds {
 public:
  TextIds(const Trace& trace, StringIds& ids);

  int64_t of(std::string_view text) { return ids_.of(text); }
  int64_t text(uint32_t number);
  /// Shapes, types, formats.
  const std::array<int64_t, 3>& parts(uint32_t number);
  int64_t name(const CallRecord& call);
  int64_t name(const TaskRecord& task);
  int64_t unit(const TaskRecord& task);

 private:
  template <class Id>
  using Known = std::vector<std::optional<Id>>;

  const Trace& trace_;
  StringIds& ids_;
  Known<int64_t> texts_, workspaces_, units_;
  Known<std::array<int64_t, 3>> parts_;
};

}  // namespace npu::profile
