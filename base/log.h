// SPDX-License-Identifier: Apache-2.0
// The process log, line by line in the form that Ascend users and their scripts know (plog):
//
//   [ERROR] RUNTIME(4711,python):2026-05-01-12:00:00.123.456 [device/queue/stream.cpp:42]4713 synchronize: text
//
// Lines go to <root>/debug/plog/plog-<pid>_<time>.log; events and errors to <root>/run/plog, what concerns the safety
// of a user's data to <root>/security/plog, and what a device tells to device-<id>/device-<pid>_<time>.log beside plog.
// <root> is ASCEND_PROCESS_LOG_PATH, else ASCEND_WORK_PATH/log, else ~/ascend/log. Or all to stdout
// (ASCEND_SLOG_PRINT_TO_STDOUT=1). Nothing is created before the first line is written.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/log/level.h"

namespace npu {

enum class LogKind : uint8_t { kDebug, kRun, kSecurity };

/// Where a line comes from. All texts must outlive the call only.
struct LogPlace {
  std::string_view module;  ///< ASCENDCL, RUNTIME, OP …; ASCEND_MODULE_LOG_LEVEL=OP=0 names it
  std::string_view function;
  std::string_view file;
  uint32_t line;
  int device = -1;  ///< the device that tells it; else it is the host's
  LogKind kind = LogKind::kDebug;
};

namespace detail {
/// The lowest level any module lets through; below every level until the environment has been read.
inline constinit std::atomic<int32_t> log_threshold{INT32_MIN};
bool log_enabled_slow(LogLevel level, std::string_view module);
}  // namespace detail

/// False if no line of `level` is written for `module`: test it before preparing a costly text. One load and compare
/// where no module logs that much.
inline bool log_enabled(LogLevel level, std::string_view module) {
  if (static_cast<int32_t>(level) < detail::log_threshold.load(std::memory_order_relaxed)) [[likely]]
    return false;
  return detail::log_enabled_slow(level, module);
}

/// Writes one line, whole even when several threads write; at most 1024 bytes of text are kept. Never throws. Lines
/// from WARNING on are in their file when it returns; others within a tenth of a second, at the process's end and at a
/// crash. A folder that cannot be written is reported once on stderr; the next line that can be written tells how many
/// were lost.
void log_line(LogLevel level, const LogPlace& place, std::string_view text) noexcept;

/// Where the log files are, and the limit of all of them: what the environment says now.
std::string log_root();

/// For tests: forgets what was read from the environment and closes the files.
void log_reset();
/// For tests: takes the lock of the log and never gives it back, as a disk would that does not answer.
void log_hang();

}  // namespace npu

#define NPU_LOG_AT(level, module, device, kind, ...)                                                       \
  do {                                                                                                     \
    if (::npu::log_enabled(::npu::LogLevel::level, module)) [[unlikely]]                                   \
      ::npu::log_line(::npu::LogLevel::level,                                                              \
                      ::npu::LogPlace{module, __func__, __FILE__, __LINE__, device, ::npu::LogKind::kind}, \
                      ::fmt::format(__VA_ARGS__));                                                         \
  } while (false)

/// NPU_LOG(kInfo, "RUNTIME", "stream {} has {} tasks", id, count): arguments are evaluated only if the level is on.
#define NPU_LOG(level, module, ...) NPU_LOG_AT(level, module, -1, kDebug, __VA_ARGS__)
/// The same for what device `device` tells: NPU_DEVICE_LOG(kError, "TS", 0, "task {} failed", name).
#define NPU_DEVICE_LOG(level, module, device, ...) NPU_LOG_AT(level, module, device, kDebug, __VA_ARGS__)
/// The same for what concerns the safety of a user's data.
#define NPU_SECURITY_LOG(level, module, ...) NPU_LOG_AT(level, module, -1, kSecurity, __VA_ARGS__)
