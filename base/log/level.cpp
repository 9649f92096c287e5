// SPDX-License-Identifier: Apache-2.0
#include "base/log/level.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace npu {
namespace {

// The vendor's modules, and GRAPH and DUMP of ours.
constexpr auto kModules = std::to_array<std::string_view>({
    "AICPU", "AIVECTOR", "APP",    "ASCENDCL", "ASCENDDK",  "ATRACE",     "BBOX", "CAMERA",  "CCE",     "CCECPU",
    "DEVMM", "DP",       "DRV",    "DSS",      "DUMP",      "DVPP",       "FE",   "FFTS",    "FMK",     "FV",
    "GE",    "GRAPH",    "HCCL",   "HCCP",     "HDC",       "HIAIENGINE", "HSM",  "IDEDD",   "IDEDH",   "IMP",
    "IMU",   "ISP",      "KERNEL", "LIBMEDIA", "LP",        "MB",         "MD",   "MDC",     "MDCFUSA", "MDCMAP",
    "ME",    "MLL",      "OP",     "PROCMGR",  "PROFILING", "ROCE",       "ROS",  "RUNTIME", "SIS",     "SLOG",
    "TBE",   "TDT",      "TEEOS",  "TEFUSION", "TS",        "TSDUMP",     "TUNE",
});

std::optional<int32_t> level_in(std::string_view text) {
  int32_t level = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
  if (error != std::errc{} || end != text.data() + text.size() || !is_log_level(level)) return std::nullopt;
  return level;
}

std::string_view cut(std::string_view& text, char at) {
  const std::string_view part = text.substr(0, text.find(at));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

}  // namespace

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "DEBUG";
    case LogLevel::kInfo: return "INFO";
    case LogLevel::kWarning: return "WARNING";
    case LogLevel::kError: return "ERROR";
    default: return "EVENT";
  }
}

bool LogLevels::lets_through(LogLevel line, std::string_view module) const {
  if (line == LogLevel::kEvent) return events && global != static_cast<int32_t>(LogLevel::kNull);
  if (of_module.empty()) return static_cast<int32_t>(line) >= global;
  const auto at = of_module.find(module);
  return static_cast<int32_t>(line) >= (at == of_module.end() ? global : at->second);
}

int32_t LogLevels::lowest() const {
  int32_t lowest = global;
  for (const auto& [module, level] : of_module) lowest = std::min(lowest, level);
  return lowest;
}

std::vector<std::string> LogLevels::take_modules(std::string_view text) {
  std::vector<std::string> wrong;
  while (!text.empty()) {
    std::string_view level_text = cut(text, ':');
    const std::string_view item = level_text, module = cut(level_text, '=');
    const std::optional<int32_t> level = level_in(level_text);
    if (module.empty() || !level) {
      wrong.push_back(fmt::format("'{}' is no MODULE=LEVEL with a level from 0 (debug) to 4 (nothing)", item));
      continue;
    }
    if (!std::ranges::binary_search(kModules, module))
      wrong.push_back(fmt::format("no module is called '{}'; log lines name theirs before the process", module));
    of_module.insert_or_assign(std::string(module), *level);
  }
  return wrong;
}

}  // namespace npu
