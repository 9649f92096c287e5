// SPDX-License-Identifier: Apache-2.0
// Which lines are logged: levels of the process and of its modules.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace npu {

/// The client's numbers (aclAppLog, ASCEND_GLOBAL_LOG_LEVEL). kNull as a threshold lets nothing through.
enum class LogLevel : int32_t { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3, kNull = 4, kEvent = 16 };

/// DEBUG, INFO, WARNING, ERROR, EVENT.
std::string_view name_of(LogLevel level);

inline bool is_log_level(int64_t level) { return level >= 0 && level <= static_cast<int32_t>(LogLevel::kNull); }

struct LogLevels {
  int32_t global = static_cast<int32_t>(LogLevel::kError);
  std::map<std::string, int32_t, std::less<>> of_module;  ///< beats the global one
  bool events = true;

  bool lets_through(LogLevel line, std::string_view module) const;
  /// The lowest level that any module lets through.
  int32_t lowest() const;
  /// Takes "OP=0:RUNTIME=1"; returns a sentence for each part that is wrong. A module that nobody knows keeps its
  /// level: its lines may come from a client.
  std::vector<std::string> take_modules(std::string_view text);
};

}  // namespace npu
