// SPDX-License-Identifier: Apache-2.0
// The process log, line by line in the form that Ascend users and their scripts know (plog):
//
//   [ERROR] RUNTIME(4711,python):2026-05-01-12:00:00.123.456 [device/queue/stream.cpp:42]4713 synchronize: text
//
// Lines go to <root>/debug/plog/plog-<pid>_<time>.log (events to <root>/run/plog), where <root> is
// ASCEND_PROCESS_LOG_PATH, else ASCEND_WORK_PATH/log, else ~/ascend/log; or to stdout (ASCEND_SLOG_PRINT_TO_STDOUT=1).
// Nothing is created before the first line is written. A call below ASCEND_GLOBAL_LOG_LEVEL costs one load and compare.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

namespace npu {

/// The client's numbers (aclAppLog, ASCEND_GLOBAL_LOG_LEVEL). kNull as a threshold lets nothing through.
enum class LogLevel : int32_t { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3, kNull = 4, kEvent = 16 };

/// Where a line comes from. All texts must outlive the call only.
struct LogPlace {
  std::string_view module;  ///< ASCENDCL, RUNTIME, OP …; ASCEND_MODULE_LOG_LEVEL=OP=0 names it
  std::string_view function;
  std::string_view file;
  uint32_t line;
};

namespace detail {
/// The lowest level any module lets through; below every level until the environment has been read.
inline constinit std::atomic<int32_t> log_threshold{INT32_MIN};
bool log_enabled_slow(LogLevel level);
}  // namespace detail

/// False if no line of `level` can be written: test it before preparing a costly text.
inline bool log_enabled(LogLevel level) {
  if (static_cast<int32_t>(level) < detail::log_threshold.load(std::memory_order_relaxed)) [[likely]]
    return false;
  return detail::log_enabled_slow(level);
}

/// Writes one line, whole even when several threads and processes write; at most 1024 bytes of text are kept. Never
/// throws. A folder that cannot be written is reported once on stderr.
void log_line(LogLevel level, const LogPlace& place, std::string_view text) noexcept;

/// For tests: forgets what was read from the environment and closes the files.
void log_reset();

}  // namespace npu

/// NPU_LOG(kInfo, "RUNTIME", "stream {} has {} tasks", id, count): arguments are evaluated only if the level is on.
#define NPU_LOG(level, module, ...)                                                                  \
  do {                                                                                               \
    if (::npu::log_enabled(::npu::LogLevel::level)) [[unlikely]]                                     \
      ::npu::log_line(::npu::LogLevel::level, ::npu::LogPlace{module, __func__, __FILE__, __LINE__}, \
                      ::fmt::format(__VA_ARGS__));                                                   \
  } while (false)
