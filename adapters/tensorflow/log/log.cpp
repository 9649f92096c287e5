// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/log/log.h"

#include <acl/acl.h>
#include <anynpu/settings.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "adapters/tensorflow/c_api/functions.h"

namespace npu::tensorflow {
namespace {

/// A variable of TensorFlow's own.
int tensorflow_level() {
  const char* text = std::getenv("TF_CPP_MIN_LOG_LEVEL");
  return text == nullptr ? 0 : std::max(std::atoi(text), 0);
}

/// The lowest level on stderr.
int stderr_level() {
  static const int level =
      is_on("NPU_DEBUG") ? static_cast<int>(Level::kDebug) : static_cast<int>(Level::kInfo) + tensorflow_level();
  return level;
}

/// The lowest level the process log may take; which modules it takes is its own business.
int plog_level() {
  static const int level = std::atoi(anynpu_setting_in_force("ASCEND_GLOBAL_LOG_LEVEL"));
  return level;
}

std::string time_now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() % 1000000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char day[32], out[48];
  std::strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", &local);
  std::snprintf(out, sizeof out, "%s.%06d", day, static_cast<int>(micros));
  return out;
}

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

void write_stderr(Level level, const char* file, int line, const std::string& text) {
  const std::string whole =
      joined(time_now(), ": ", "IIWE"[static_cast<int>(level)], " core/", base_name(file), ":", line, "] ", text, "\n");
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, whole.data(), whole.size());
}

}  // namespace

bool is_on(const char* variable) noexcept {
  const std::string_view text = anynpu_setting_in_force(variable);
  return text == "1" || text == "true";
}

bool log_shown(Level level) noexcept {
  static const int lowest = std::min(stderr_level(), plog_level());
  return static_cast<int>(level) >= lowest;
}

void log_line(Level level, const char* file, int line, const std::string& text) noexcept {
  try {
    if (static_cast<int>(level) >= stderr_level()) write_stderr(level, file, line, text);
    aclAppLog(static_cast<aclLogLevel>(level), "npu_device", base_name(file), static_cast<uint32_t>(line), "%s",
              text.c_str());
  } catch (const std::exception&) {
    // A line that finds no memory is lost; the step goes on.
  }
}

}  // namespace npu::tensorflow

void anynpu_tensorflow_log(int level, const char* text) {
  const auto wanted = static_cast<npu::tensorflow::Level>(level);
  if (npu::tensorflow::log_shown(wanted)) npu::tensorflow::log_line(wanted, __FILE__, __LINE__, text);
}
