// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <errno.h>
#include <fmt/chrono.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <list>
#include <map>
#include <mutex>
#include <string>

#include "base/log/crash.h"
#include "base/log/file.h"
#include "base/log/folder.h"
#include "base/log/lock.h"
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
NPU_SETTING(int64_t, flush_timeout, "ASCEND_LOG_DEVICE_FLUSH_TIMEOUT", 2000,
            "Milliseconds, 0 to 180000, that the end of a process waits for a device's last log lines to be written.");
NPU_SETTING(int64_t, largest_file, "ANYNPU_LOG_FILE_SIZE", 20 << 20,
            "Bytes after which a log file is followed by the next one, 1024 or more: the 20 MB of the vendor.");
NPU_SETTING(int64_t, total_limit, "ANYNPU_LOG_LIMIT", int64_t{2} << 30,
            "Bytes of the log files of all processes, 0 or more; beyond, files of processes that have ended go, the "
            "oldest first.");

constexpr size_t kLongestText = 1024;
constexpr int64_t kFlushMs = 100;
constexpr int64_t kExitMs = 2000;  // for the host's lines, where something holds the lock

/// What the environment said at the first line; never changed.
struct Config {
  LogLevels levels;
  bool to_stdout = false;
  int64_t flush_timeout = 2000;
  mutable LogFolder folder;
};

int64_t within(const Setting<int64_t>& setting, const char* variable, int64_t least, int64_t most, int64_t usual) {
  const int64_t value = setting();
  if (value >= least && value <= most) return value;
  fmt::print(stderr, "anynpu: {}={} is not between {} and {}; using {}\n", variable, value, least, most, usual);
  return usual;
}

void read_config(Config& config) {
  config.levels.global = static_cast<int32_t>(within(global_level, "ASCEND_GLOBAL_LOG_LEVEL", 0, 4, 3));
  for (const std::string& wrong : config.levels.take_modules(module_levels()))
    fmt::print(stderr, "anynpu: ASCEND_MODULE_LOG_LEVEL: {}\n", wrong);
  config.levels.events = events();
  config.to_stdout = to_stdout();
  config.flush_timeout = within(flush_timeout, "ASCEND_LOG_DEVICE_FLUSH_TIMEOUT", 0, 180'000, 2000);
  config.folder.root = log_root();
  config.folder.files_kept = static_cast<size_t>(within(files_kept, "ASCEND_HOST_LOG_FILE_NUM", 1, 1000, 10));
  config.folder.largest_file =
      static_cast<size_t>(within(largest_file, "ANYNPU_LOG_FILE_SIZE", 1024, INT64_MAX, 20 << 20));
  config.folder.limit = static_cast<uint64_t>(within(total_limit, "ANYNPU_LOG_LIMIT", 0, INT64_MAX, int64_t{2} << 30));
}

/// "2026-05-01-12:00:00", made once a second and thread.
struct Second {
  std::time_t at = -1;
  char text[24];
};
thread_local constinit Second second{};

std::string_view second_text(std::time_t now) {
  if (second.at != now) {
    std::tm local{};
    localtime_r(&now, &local);
    *fmt::format_to_n(second.text, sizeof second.text - 1, "{:%Y-%m-%d-%H:%M:%S}", local).out = '\0';
    second.at = now;
  }
  return second.text;
}

using Line = fmt::basic_memory_buffer<char, 1536>;

Line format_line(LogLevel level, const LogPlace& place, std::string_view text, pid_t pid) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t us = now.tv_nsec / 1000;
  Line line;
  fmt::format_to(fmt::appender(line), "[{}] {}({},{}):{}.{:03}.{:03} [{}:{}]{} {}: {}\n", name_of(level), place.module,
                 pid, program_invocation_short_name, second_text(now.tv_sec), us / 1000, us % 1000, place.file,
                 place.line, thread_number(), place.function, text.substr(0, kLongestText));
  return line;
}

class Log {
 public:
  static Log& log() {
    static Log& instance = *new Log;  // never destroyed: lines may be written while the process exits
    return instance;
  }

  const Config& config() {
    if (const Config* known = config_.load(std::memory_order_acquire)) return *known;
    const std::lock_guard lock(reading_);
    if (config_.load() == nullptr) {
      Config& fresh = configs_.emplace_back();
      read_config(fresh);
      config_.store(&fresh, std::memory_order_release);
      detail::log_threshold.store(fresh.levels.lowest(), std::memory_order_relaxed);
    }
    return *config_.load();
  }

  void write(LogLevel level, const LogPlace& place, std::string_view text) {
    const Line line = format_line(level, place, text, pid_);
    const std::string_view whole(line.data(), line.size());
    // One write call a line: threads and processes that share stdout do not cut into each other's lines.
    if (config().to_stdout) return void(::write(STDOUT_FILENO, line.data(), line.size()) < 0);
    const bool at_once = level >= LogLevel::kWarning || !flushes();
    const std::lock_guard lock(lock_);
    const LogKind kind = level == LogLevel::kEvent ? LogKind::kRun : place.kind;
    append(kind, place.device, whole, at_once);
    // Where guides look for errors.
    if (level == LogLevel::kError && kind == LogKind::kDebug) append(LogKind::kRun, place.device, whole, at_once);
    if (!at_once && pending_.exchange(1, std::memory_order_relaxed) == 0) pending_.notify_one();
  }

  void reset() {
    const std::lock_guard lock(lock_);
    for (auto& [key, file] : files_) {
      file->flush();
      file->forget();
    }
    files_.clear();  // a handler may be reading: they stay among all
    config_ = nullptr;
    detail::log_threshold.store(INT32_MIN, std::memory_order_relaxed);
  }
  void hang() { lock_.lock(); }

 private:
  // A thread may be writing while another one forks; the child must not inherit a lock nobody will give back.
  Log() {
    pthread_atfork([] { log().prepare_fork(); }, [] { log().after_fork(); }, [] { log().in_child(); });
  }

  void prepare_fork() {
    reading_.lock();
    lock_.lock();
  }
  void after_fork() {
    lock_.unlock();
    reading_.unlock();
  }
  void in_child() {
    lock_.reset_in_child();
    reading_.unlock();
    pid_ = getpid();
    for (auto& [key, file] : files_) file->forget();
    flusher_ = Flusher::kNone;
    pending_ = 0;
  }

  void append(LogKind kind, int device, std::string_view line, bool at_once) {
    LogFile& file = file_of(kind, device);
    file.append(line, at_once);
    if (const uint64_t lost = file.take_lost()) {
      const Line told = format_line(LogLevel::kWarning, {"SLOG", __func__, __FILE__, __LINE__},
                                    fmt::format("{} lines before this one were lost", lost), pid_);
      file.append({told.data(), told.size()}, at_once);
    }
  }

  LogFile& file_of(LogKind kind, int device) {
    LogFile*& file = files_[{kind, device}];
    static constexpr const char* kNames[] = {"debug", "run", "security"};
    if (file == nullptr) file = &all_files_.emplace_back(config().folder, kNames[static_cast<size_t>(kind)], device);
    return *file;
  }

  // True if a line may wait: somebody will write it. The thread starts with the first one that does.
  bool flushes() {
    if (flusher_.load(std::memory_order_acquire) == Flusher::kRuns) [[likely]]
      return true;
    const std::lock_guard lock(lock_);
    if (flusher_ == Flusher::kNone) flusher_ = start() ? Flusher::kRuns : Flusher::kNever;
    return flusher_ == Flusher::kRuns;
  }

  bool start() {
    [[maybe_unused]] static const int hooked = std::atexit([] { log().at_exit(); });
    watch_crashes(lock_);
    sigset_t all, before;
    sigfillset(&all);
    for (const int fatal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigdelset(&all, fatal);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals of the process are for its own threads
    pthread_t thread;
    const bool started = pthread_create(&thread, nullptr, [](void*) -> void* { log().flush_for_ever(); }, nullptr) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (started) pthread_detach(thread);
    return started;
  }

  [[noreturn]] void flush_for_ever() {
    for (;;) {
      pending_.wait(0);
      const timespec pause{0, kFlushMs * 1'000'000};
      nanosleep(&pause, nullptr);
      pending_ = 0;
      const std::lock_guard lock(lock_);
      for (auto& [key, file] : files_) file->flush();
    }
  }

  // A disk that does not answer must not hold a process that wants to end.
  void at_exit() {
    flusher_ = Flusher::kNever;  // what others log from here on is written at once
    flush_at_exit(false, kExitMs);
    if (const int64_t ms = config().flush_timeout; ms > 0) flush_at_exit(true, ms);
  }
  void flush_at_exit(bool of_devices, int64_t ms) {
    if (!lock_.try_lock_for(ms, thread_number())) return;
    for (auto& [key, file] : files_)
      if ((file->device() >= 0) == of_devices) file->flush();
    lock_.unlock();
  }

  enum class Flusher { kNone, kRuns, kNever };

  std::list<Config> configs_;  // the last one is in force; those before it may still be read
  std::atomic<const Config*> config_{nullptr};
  std::mutex reading_;
  LogLock lock_;
  std::list<LogFile> all_files_;
  std::map<std::pair<LogKind, int>, LogFile*> files_;
  std::atomic<Flusher> flusher_{Flusher::kNone};
  std::atomic<int32_t> pending_{0};
  std::atomic<pid_t> pid_{getpid()};
};

}  // namespace

bool detail::log_enabled_slow(LogLevel level, std::string_view module) {
  return Log::log().config().levels.lets_through(level, module);
}

void log_line(LogLevel level, const LogPlace& place, std::string_view text) noexcept try {
  Log& log = Log::log();
  if (log.config().levels.lets_through(level, place.module)) log.write(level, place, text);
} catch (...) {
  // A log line that cannot be written must not become the client's failure.
}

std::string log_root() {
  if (!log_path().empty()) return log_path();
  if (!work_path().empty()) return work_path() + "/log";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr && *home != '\0' ? home : "/tmp") + "/ascend/log";
}

void log_reset() {
  for (auto* number : {&global_level, &files_kept, &flush_timeout, &largest_file, &total_limit}) number->reload();
  for (auto* text : {&module_levels, &log_path, &work_path}) text->reload();
  for (auto* flag : {&events, &to_stdout}) flag->reload();
  Log::log().reset();
}

void log_hang() { Log::log().hang(); }

}  // namespace npu
