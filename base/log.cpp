// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "base/setting.h"

namespace npu {
namespace {

NPU_SETTING(int64_t, global_level, "ASCEND_GLOBAL_LOG_LEVEL", 3,
            "Lowest level logged: 0 debug, 1 info, 2 warning, 3 error, 4 nothing.");
NPU_SETTING(std::string, module_levels, "ASCEND_MODULE_LOG_LEVEL", "",
            "Levels of single modules, which beat the global one: OP=0:RUNTIME=1.");
NPU_SETTING(bool, events, "ASCEND_GLOBAL_EVENT_ENABLE", true, "Event lines are logged.");
NPU_SETTING(bool, to_stdout, "ASCEND_SLOG_PRINT_TO_STDOUT", false, "Log lines go to stdout instead of files.");
NPU_SETTING(std::string, log_path, "ASCEND_PROCESS_LOG_PATH", "",
            "Folder of the log files, made if missing; default ASCEND_WORK_PATH/log, else ~/ascend/log.");
NPU_SETTING(std::string, work_path, "ASCEND_WORK_PATH", "", "Folder whose subfolder log takes the log files.");
NPU_SETTING(int64_t, files_kept, "ASCEND_HOST_LOG_FILE_NUM", 10,
            "Log files of 20 MB that one process keeps of each kind, 1 to 1000.");

constexpr size_t kLongestText = 1024;
constexpr size_t kLargestFile = 20u << 20;

struct Config {
  int32_t level = static_cast<int32_t>(LogLevel::kError);
  std::map<std::string, int32_t, std::less<>> module_level;
  bool events = true;
  bool to_stdout = false;
  std::filesystem::path root;
  size_t files_kept = 10;

  bool lets_through(LogLevel line, std::string_view module) const {
    if (line == LogLevel::kEvent) return events && level != static_cast<int32_t>(LogLevel::kNull);
    const auto at = module_level.find(module);
    return static_cast<int32_t>(line) >= (at == module_level.end() ? level : at->second);
  }
};

std::filesystem::path log_root() {
  if (!log_path().empty()) return log_path();
  if (!work_path().empty()) return std::filesystem::path(work_path()) / "log";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home != nullptr && *home != '\0' ? home : "/tmp") / "ascend" / "log";
}

bool valid_level(int64_t level) { return level >= 0 && level <= 4; }

void parse_module_levels(std::string_view text, Config& config) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) continue;
    int32_t level = -1;
    std::from_chars(item.data() + equals + 1, item.data() + item.size(), level);
    if (valid_level(level)) config.module_level.emplace(item.substr(0, equals), level);
  }
}

Config read_config() {
  Config config;
  if (valid_level(global_level())) config.level = static_cast<int32_t>(global_level());
  parse_module_levels(module_levels(), config);
  config.events = events();
  config.to_stdout = to_stdout();
  config.root = log_root();
  config.files_kept = static_cast<size_t>(std::clamp<int64_t>(files_kept(), 1, 1000));
  return config;
}

using Clock = std::chrono::system_clock;

std::tm local_time(Clock::time_point now) {
  const std::time_t seconds = Clock::to_time_t(now);
  std::tm out{};
  localtime_r(&seconds, &out);
  return out;
}

int64_t micros(Clock::time_point now) {
  return std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() % 1000000;
}

// One growing sequence of files: debug or run.
class LogFile {
 public:
  explicit LogFile(std::string_view kind) : kind_(kind) {}

  // A forked child starts a file of its own: its name carries the pid.
  void write(const Config& config, std::string_view line) {
    if (fd_ < 0 || pid_ != getpid() || size_ + line.size() > kLargestFile) open_next(config);
    if (fd_ >= 0 && ::write(fd_, line.data(), line.size()) > 0) size_ += line.size();
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    files_.clear();
  }

 private:
  void open_next(const Config& config) {
    if (pid_ != getpid()) close();
    pid_ = getpid();
    if (fd_ >= 0) ::close(fd_);
    const std::filesystem::path folder = config.root / kind_ / "plog";
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    const auto now = Clock::now();
    const std::filesystem::path file =
        folder / fmt::format("plog-{}_{:%Y%m%d%H%M%S}{:03}.log", pid_, local_time(now), micros(now) / 1000);
    fd_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    size_ = 0;
    if (fd_ < 0) return complain(file);
    files_.push_back(file);
    if (files_.size() <= config.files_kept) return;
    std::filesystem::remove(files_.front(), error);
    files_.pop_front();
  }
  void complain(const std::filesystem::path& file) {
    if (std::exchange(complained_, true)) return;
    fmt::print(stderr, "anynpu: the log file {} cannot be written; set ASCEND_PROCESS_LOG_PATH to a folder that can\n",
               file.string());
  }

  const std::string_view kind_;
  int fd_ = -1;
  pid_t pid_ = 0;
  size_t size_ = 0;
  std::deque<std::filesystem::path> files_;
  bool complained_ = false;
};

struct Log {
  std::mutex mutex;
  Config config;
  LogFile debug{"debug"};
  LogFile run{"run"};

  // A thread may be writing while another one forks; the child must not inherit a mutex nobody will unlock.
  Log() {
    pthread_atfork([] { log().mutex.lock(); }, [] { log().mutex.unlock(); }, [] { log().mutex.unlock(); });
  }
  static Log& log() {
    static Log& instance = *new Log;  // never destroyed: lines may be written while the process exits
    return instance;
  }

  void ready() {
    if (detail::log_threshold.load(std::memory_order_relaxed) != INT32_MIN) return;
    config = read_config();
    int32_t lowest = config.level;
    for (const auto& [module, level] : config.module_level) lowest = std::min(lowest, level);
    detail::log_threshold.store(lowest, std::memory_order_relaxed);
  }
};

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "DEBUG";
    case LogLevel::kInfo: return "INFO";
    case LogLevel::kWarning: return "WARNING";
    case LogLevel::kError: return "ERROR";
    default: return "EVENT";
  }
}

std::string format_line(LogLevel level, const LogPlace& place, std::string_view text) {
  const auto now = Clock::now();
  const int64_t us = micros(now);
  return fmt::format("[{}] {}({},{}):{:%Y-%m-%d-%H:%M:%S}.{:03}.{:03} [{}:{}]{} {}: {}\n", name_of(level), place.module,
                     getpid(), program_invocation_short_name, local_time(now), us / 1000, us % 1000, place.file,
                     place.line, syscall(SYS_gettid), place.function, text.substr(0, kLongestText));
}

}  // namespace

bool detail::log_enabled_slow(LogLevel level) {
  if (log_threshold.load(std::memory_order_relaxed) != INT32_MIN) return true;
  Log& log = Log::log();
  std::lock_guard lock(log.mutex);
  log.ready();
  return static_cast<int32_t>(level) >= log_threshold.load(std::memory_order_relaxed);
}

void log_line(LogLevel level, const LogPlace& place, std::string_view text) noexcept try {
  Log& log = Log::log();
  std::lock_guard lock(log.mutex);
  log.ready();
  if (!log.config.lets_through(level, place.module)) return;
  const std::string line = format_line(level, place, text);
  if (log.config.to_stdout) {
    // One write call a line: threads and processes that share stdout do not cut into each other's lines.
    if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) return;
    return;
  }
  (level == LogLevel::kEvent ? log.run : log.debug).write(log.config, line);
} catch (...) {
  // A log line that cannot be written must not become the client's failure.
}

void log_reset() {
  global_level.reload();
  module_levels.reload();
  events.reload();
  to_stdout.reload();
  log_path.reload();
  work_path.reload();
  files_kept.reload();
  Log& log = Log::log();
  std::lock_guard lock(log.mutex);
  log.debug.close();
  log.run.close();
  detail::log_threshold.store(INT32_MIN, std::memory_order_relaxed);
}

}  // namespace npu
