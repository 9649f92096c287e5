// SPDX-License-Identifier: Apache-2.0
// The lines that users of the vendor's adapter look for, in TensorFlow's own form, on stderr and in the process log:
//
//   2026-05-01 12:00:00.123456: I core/engine.cpp:42] Npu device instance … created
//
// kInfo lines show while TF_CPP_MIN_LOG_LEVEL is 0, TensorFlow's default; kDebug lines (one a step, one a batch) only
// with NPU_DEBUG=1, which shows both whatever TensorFlow's level is. The process log (plog) has its own levels,
// ASCEND_GLOBAL_LOG_LEVEL.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

namespace npu::tensorflow {

enum class Level : int { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

/// Whether the environment has "1" or "true" for this switch.
bool is_on(const char* variable) noexcept;
/// Whether a line of this level would be written anywhere; one load and a compare when not.
bool log_shown(Level level) noexcept;
/// Writes one line, whole even when several threads write. Never throws.
void log_line(Level level, const char* file, int line, const std::string& text) noexcept;

template <class... Parts>
std::string joined(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

}  // namespace npu::tensorflow

/// NPU_TF_LOG(kInfo, "Start consume iterator resource ", name, " ", n, " times"): evaluated only where it shows.
#define NPU_TF_LOG(level, ...)                                                         \
  do {                                                                                 \
    if (::npu::tensorflow::log_shown(::npu::tensorflow::Level::level)) [[unlikely]]    \
      ::npu::tensorflow::log_line(::npu::tensorflow::Level::level, __FILE__, __LINE__, \
                                  ::npu::tensorflow::joined(__VA_ARGS__));             \
  } while (false)
