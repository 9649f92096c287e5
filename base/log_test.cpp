// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <thread>
#include <vector>

namespace npu {
namespace {

namespace fs = std::filesystem;

class LogTest : public testing::Test {
 protected:
  LogTest() {
    setenv("ASCEND_PROCESS_LOG_PATH", folder_.c_str(), 1);
    log_reset();
  }
  ~LogTest() override {
    for (const char* name :
         {"ASCEND_PROCESS_LOG_PATH", "ASCEND_GLOBAL_LOG_LEVEL", "ASCEND_MODULE_LOG_LEVEL",
          "ASCEND_SLOG_PRINT_TO_STDOUT", "ASCEND_GLOBAL_EVENT_ENABLE", "ASCEND_HOST_LOG_FILE_NUM",
          "ASCEND_LOG_DEVICE_FLUSH_TIMEOUT", "ANYNPU_LOG_FILE_SIZE", "ANYNPU_LOG_LIMIT", "ASCEND_WORK_PATH"})
      unsetenv(name);
    log_reset();
    fs::remove_all(folder_);
  }
  static void set(const char* name, const char* value) {
    setenv(name, value, 1);
    log_reset();
  }
  std::vector<fs::path> files(const char* kind, const char* side = "plog") const {
    const fs::path folder = fs::path(folder_) / kind / side;
    if (!fs::exists(folder)) return {};
    return {fs::directory_iterator(folder), fs::directory_iterator()};
  }
  std::vector<std::string> lines(const char* kind = "debug", const char* side = "plog") const {
    std::vector<std::string> out;
    for (const fs::path& file : files(kind, side)) {
      std::ifstream in(file);
      for (std::string line; std::getline(in, line);) out.push_back(line);
    }
    return out;
  }

  const std::string folder_ = fs::temp_directory_path() / fmt::format("anynpu-log-{}", getpid());
};

TEST_F(LogTest, NothingIsCreatedBeforeTheFirstLine) {
  NPU_LOG(kInfo, "OP", "below the default level");
  EXPECT_FALSE(fs::exists(folder_));
  NPU_LOG(kError, "OP", "written");
  EXPECT_EQ(files("debug").size(), 1u);
  EXPECT_EQ(lines(), lines("run"));  // where guides look for errors
  EXPECT_FALSE(fs::exists(folder_ + "/security"));
}

TEST_F(LogTest, ALineReadsAsPlog) {
  NPU_LOG(kError, "RUNTIME", "stream {} is gone", 3);
  const std::regex grammar(R"(\[ERROR\] RUNTIME\(\d+,base_test\):\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} )"
                           R"(\[base/log_test\.cpp:\d+\]\d+ TestBody: stream 3 is gone)");
  ASSERT_EQ(lines().size(), 1u);
  EXPECT_TRUE(std::regex_match(lines()[0], grammar)) << lines()[0];
  const std::regex name(fmt::format(R"(plog-{}_\d{{17}}\.log)", getpid()));
  EXPECT_TRUE(std::regex_match(files("debug")[0].filename().string(), name)) << files("debug")[0];
}

TEST_F(LogTest, TheGlobalLevelDecides) {
  set("ASCEND_GLOBAL_LOG_LEVEL", "1");
  EXPECT_FALSE(log_enabled(LogLevel::kDebug, "OP"));
  NPU_LOG(kDebug, "OP", "no");
  NPU_LOG(kInfo, "OP", "yes");
  set("ASCEND_GLOBAL_LOG_LEVEL", "4");
  NPU_LOG(kError, "OP", "no");
  NPU_LOG(kEvent, "OP", "no");
  set("ASCEND_GLOBAL_LOG_LEVEL", "9");  // not a level: the default, errors only
  NPU_LOG(kWarning, "OP", "no");
  log_reset();  // writes what waits
  EXPECT_EQ(lines().size(), 1u);
}

TEST_F(LogTest, AModulesOwnLevelBeatsTheGlobalOne) {
  set("ASCEND_MODULE_LOG_LEVEL", "RUNTIME=0:OP=4:broken:GE=x");
  NPU_LOG(kDebug, "RUNTIME", "yes");
  NPU_LOG(kError, "OP", "no");
  NPU_LOG(kInfo, "GE", "no");
  NPU_LOG(kError, "GE", "yes");
  EXPECT_FALSE(log_enabled(LogLevel::kDebug, "OP"));
  EXPECT_TRUE(log_enabled(LogLevel::kDebug, "RUNTIME"));
  log_reset();
  EXPECT_EQ(lines().size(), 2u);
}

TEST_F(LogTest, EventsHaveAFileOfTheirOwnAndASwitch) {
  NPU_LOG(kEvent, "RUNTIME", "started");
  EXPECT_EQ(lines("run").size(), 1u);
  EXPECT_TRUE(lines("debug").empty());
  set("ASCEND_GLOBAL_EVENT_ENABLE", "0");
  NPU_LOG(kEvent, "RUNTIME", "not seen");
  EXPECT_EQ(lines("run").size(), 1u);
}

TEST_F(LogTest, LinesMayGoToStdout) {
  set("ASCEND_SLOG_PRINT_TO_STDOUT", "1");
  testing::internal::CaptureStdout();
  NPU_LOG(kError, "OP", "on stdout");
  EXPECT_NE(testing::internal::GetCapturedStdout().find("on stdout\n"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(LogTest, LongTextsAreCutAt1024Bytes) {
  NPU_LOG(kError, "OP", "{}", std::string(5000, 'x'));
  const std::string line = lines().at(0);
  EXPECT_EQ(std::count(line.begin(), line.end(), 'x'), 1024);
}

TEST_F(LogTest, FilesRotateAndTheOldestGo) {
  set("ASCEND_HOST_LOG_FILE_NUM", "2");
  set("ANYNPU_LOG_FILE_SIZE", "4096");
  for (int i = 0; i < 40; ++i) NPU_LOG(kError, "OP", "{:04} {}", i, std::string(500, 'x'));
  for (const char* kind : {"debug", "run"}) {
    EXPECT_EQ(files(kind).size(), 2u);
    for (const fs::path& file : files(kind)) EXPECT_LE(fs::file_size(file), 4096u);
    const auto kept = lines(kind);
    const auto holds = [&](const char* text) {
      return std::ranges::any_of(kept, [=](const std::string& line) { return line.find(text) != std::string::npos; });
    };
    EXPECT_TRUE(holds(": 0039 ")) << kind;
    EXPECT_FALSE(holds(": 0000 ")) << kind;
  }
}

TEST_F(LogTest, WhatIsNoValueIsToldAndTheUsualOneTaken) {
  testing::internal::CaptureStderr();
  set("ASCEND_HOST_LOG_FILE_NUM", "2000");
  set("ASCEND_LOG_DEVICE_FLUSH_TIMEOUT", "180001");
  set("ASCEND_MODULE_LOG_LEVEL", "NOWHERE=1:OP=7");
  for (int i = 0; i < 2; ++i) NPU_LOG(kError, "OP", "a line");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("ASCEND_HOST_LOG_FILE_NUM=2000 is not between 1 and 1000; using 10"), std::string::npos) << text;
  EXPECT_NE(text.find("ASCEND_LOG_DEVICE_FLUSH_TIMEOUT=180001 is not between 0 and 180000"), std::string::npos) << text;
  EXPECT_NE(text.find("no module is called 'NOWHERE'"), std::string::npos) << text;
  EXPECT_NE(text.find("'OP=7' is no MODULE=LEVEL"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << text;
}

TEST_F(LogTest, ADeviceAndWhatIsAboutSafetyHaveFilesOfTheirOwn) {
  NPU_DEVICE_LOG(kError, "TS", 3, "task failed");
  NPU_SECURITY_LOG(kError, "DRV", "a folder of somebody else");
  EXPECT_EQ(lines("debug", "device-3").size(), 1u);
  EXPECT_EQ(lines("run", "device-3").size(), 1u);
  const std::regex name(fmt::format(R"(device-{}_\d{{17}}\.log)", getpid()));
  EXPECT_TRUE(std::regex_match(files("run", "device-3").at(0).filename().string(), name));
  EXPECT_EQ(lines("security").size(), 1u);
  EXPECT_TRUE(lines("debug").empty());
}

TEST_F(LogTest, TheFolderIsTheProcesssElseBelowTheWorkPathElseHome) {
  setenv("ASCEND_WORK_PATH", "/work/path", 1);
  log_reset();
  EXPECT_EQ(log_root(), folder_);
  set("ASCEND_PROCESS_LOG_PATH", "");
  EXPECT_EQ(log_root(), "/work/path/log");
  set("ASCEND_WORK_PATH", "");
  const char* const home = std::getenv("HOME");
  ASSERT_NE(home, nullptr);
  EXPECT_EQ(log_root(), std::string(home) + "/ascend/log");
}

/// What a child did that logged and then ended in `ending`: its status.
template <class Ending>
int in_child(Ending ending) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    ending();
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// The status of this program as it runs one test alone: nobody has touched its signals yet.
int as_program(const char* test) {
  const std::string filter = fmt::format("--gtest_filter=LogProgram.DISABLED_{}", test);
  return in_child([&] {
    execl("/proc/self/exe", "log", "--gtest_also_run_disabled_tests", "--gtest_brief=1", filter.c_str(), nullptr);
  });
}

TEST(LogProgram, DISABLED_Crashes) {
  std::signal(SIGSEGV, SIG_DFL);
  for (int i = 0; i < 100; ++i) NPU_LOG(kDebug, "OP", "line {}", i);
  raise(SIGSEGV);
}
TEST(LogProgram, DISABLED_Aborts) {
  std::signal(SIGABRT, [](int) { _exit(42); });
  NPU_LOG(kInfo, "OP", "the last line");
  std::abort();
}
TEST(LogProgram, DISABLED_LogsAnError) {
  std::signal(SIGSEGV, SIG_DFL);
  NPU_LOG(kError, "OP", "a line");
  struct sigaction now {};
  sigaction(SIGSEGV, nullptr, &now);
  _exit(now.sa_handler == SIG_DFL ? 0 : 1);
}

TEST_F(LogTest, ACrashLosesNoLine) {
  set("ASCEND_GLOBAL_LOG_LEVEL", "0");
  const int status = as_program("Crashes");
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
  EXPECT_EQ(lines().size(), 100u);
}

TEST_F(LogTest, AnAbortLosesNoLineAndReachesTheHandlerBefore) {
  set("ASCEND_GLOBAL_LOG_LEVEL", "0");
  const int status = as_program("Aborts");
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42) << status;
  EXPECT_EQ(lines().size(), 1u);
}

TEST_F(LogTest, AtTheDefaultLevelNoSignalIsTouched) { EXPECT_EQ(as_program("LogsAnError"), 0); }

void log_and_exit() {
  NPU_LOG(kDebug, "OP", "host");
  NPU_DEVICE_LOG(kDebug, "TS", 1, "device");
  std::exit(0);
}

TEST_F(LogTest, TheEndOfAProcessLosesNoLine) {
  set("ASCEND_GLOBAL_LOG_LEVEL", "0");
  EXPECT_EQ(in_child(&log_and_exit), 0);
  EXPECT_EQ(lines().size(), 1u);
  EXPECT_EQ(lines("debug", "device-1").size(), 1u);
}

void log_hang_and_exit() {
  NPU_DEVICE_LOG(kDebug, "TS", 1, "device");
  log_hang();
  std::exit(0);
}

TEST_F(LogTest, ADiskThatDoesNotAnswerHoldsNoProcessThatEnds) {
  set("ASCEND_GLOBAL_LOG_LEVEL", "0");
  set("ASCEND_LOG_DEVICE_FLUSH_TIMEOUT", "50");
  EXPECT_EQ(in_child(&log_hang_and_exit), 0);
}

TEST_F(LogTest, LinesBelowWarningReachTheFileByThemselves) {
  set("ASCEND_GLOBAL_LOG_LEVEL", "0");
  NPU_LOG(kInfo, "OP", "waits for a moment");
  while (lines().empty()) usleep(1000);
  EXPECT_EQ(lines().size(), 1u);
}

TEST_F(LogTest, ADiskThatIsFullLosesLinesAndSaysHowMany) {
  set("ASCEND_GLOBAL_LOG_LEVEL", "2");
  testing::internal::CaptureStderr();
  const int status = in_child([] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4000, RLIM_INFINITY}, large{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 10; ++i) NPU_LOG(kWarning, "OP", "{:02} {}", i, std::string(900, 'x'));
    setrlimit(RLIMIT_FSIZE, &large);
    NPU_LOG(kWarning, "OP", "there is room again");
    _exit(0);
  });
  EXPECT_EQ(status, 0);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  const auto kept = lines();
  ASSERT_EQ(kept.size(), 5u);
  for (const std::string& line : kept) EXPECT_TRUE(line.starts_with("[WARNING] ")) << line;
  EXPECT_NE(kept.back().find("7 lines before this one were lost"), std::string::npos) << kept.back();
}

TEST_F(LogTest, BeyondTheLimitFilesOfTheDeadGoAndNoneOfTheLiving) {
  const fs::path folder = fs::path(folder_) / "debug" / "plog";
  fs::create_directories(folder);
  const auto put = [&](int pid, int day) {
    const fs::path file = folder / fmt::format("plog-{}_202601{:02}120000000.log", pid, day);
    std::ofstream(file) << std::string(3000, 'x');
    return file;
  };
  const fs::path living_old = put(2, 1), dead_old = put(1, 2), dead_new = put(1, 3), living = put(2, 4);
  const int lock = open(living.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  set("ANYNPU_LOG_FILE_SIZE", "1024");
  set("ANYNPU_LOG_LIMIT", "11000");
  testing::internal::CaptureStderr();
  NPU_LOG(kError, "OP", "opens a file");
  const std::string text = testing::internal::GetCapturedStderr();
  close(lock);
  EXPECT_TRUE(fs::exists(living_old) && fs::exists(living) && fs::exists(dead_new));
  EXPECT_FALSE(fs::exists(dead_old));
  EXPECT_NE(text.find("the oldest log file of processes that have ended went"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(LogTest, ThreadsWriteWholeLines) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) NPU_LOG(kError, "OP", "line {} of some length", i);
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(lines().size(), 2000u);
  for (const std::string& line : lines()) ASSERT_TRUE(line.starts_with("[ERROR] OP(") && line.ends_with("length"));
}

TEST_F(LogTest, AForkedChildWritesAFileOfItsOwn) {
  NPU_LOG(kError, "OP", "parent");
  const pid_t child = fork();
  if (child == 0) {
    NPU_LOG(kError, "OP", "child");
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(files("debug").size(), 2u);
  EXPECT_EQ(lines().size(), 2u);
}

TEST_F(LogTest, AFolderThatCannotBeWrittenIsReportedOnce) {
  set("ASCEND_PROCESS_LOG_PATH", "/proc/nowhere");
  testing::internal::CaptureStderr();
  NPU_LOG(kError, "OP", "first");
  NPU_LOG(kError, "OP", "second");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(text.find("set ASCEND_PROCESS_LOG_PATH to a folder that can") != std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

// The promise is 20 ns; the bench prints the figure. The best of many short batches shuts out other processes.
TEST_F(LogTest, AFilteredCallIsCheap) {
#ifdef __OPTIMIZE__
  NPU_LOG(kDebug, "OP", "reads the environment");
  double best = 1e9;
  for (int batch = 0; batch < 50; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) NPU_LOG(kDebug, "OP", "never formatted {}", i);
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  EXPECT_LT(best / 1000, 20);
#endif
}

}  // namespace
}  // namespace npu
