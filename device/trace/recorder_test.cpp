// SPDX-License-Identifier: Apache-2.0
#include "device/trace/recorder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "device/context/context.h"
#include "device/queue/stream.h"
#include "device/trace/clock.h"
#include "device/trace/piece.h"
#include "device/trace/text.h"

namespace npu::device::trace {
namespace {

namespace fs = std::filesystem;

template <class Record>
std::vector<Record> read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<Record> found;
  for (size_t at = 0; at + sizeof(Record) <= bytes.size(); at += sizeof(Record)) {
    Record record;
    std::memcpy(&record, bytes.data() + at, sizeof record);
    if (record.end != 0) found.push_back(record);
  }
  return found;
}

class Recorder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "traceXXXXXX").string();
    folder = mkdtemp(name.data());
    fs::create_directories(folder / "host/data");
  }
  void TearDown() override {
    stop();
    fs::remove_all(folder);
  }
  void begin() {
    start(folder.string(), {}, [this](const std::string& error) { told.push_back(error); });
  }
  fs::path calls() const { return folder / "host/data" / kCallFile; }
  fs::path tasks(int device) const { return folder / ("device_" + std::to_string(device)) / "data" / kTaskFile; }

  fs::path folder;
  std::vector<std::string> told;
};

TEST_F(Recorder, KeepsEveryRecordOfEveryThread) {
  constexpr int kThreads = 4, kEach = 5000;  // some pieces each
  begin();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < kEach; ++i) {
        TaskRecord task;
        task.start = 1, task.end = 2, task.device = t % 2, task.number = static_cast<uint64_t>(t * kEach + i);
        add(task);
        add(CallRecord{1, 2, static_cast<uint32_t>(t * kEach + i), 0, Level::kRuntime, 0});
      }
    });
  for (std::thread& thread : threads) thread.join();
  stop();
  std::set<uint64_t> numbers;
  for (const int device : {0, 1})
    for (const TaskRecord& task : read<TaskRecord>(tasks(device))) {
      EXPECT_EQ(task.device, device);
      EXPECT_TRUE(numbers.insert(task.number).second) << task.number;
    }
  EXPECT_EQ(numbers.size(), kThreads * kEach);
  std::set<uint32_t> found;
  for (const CallRecord& call : read<CallRecord>(calls())) found.insert(call.thread);
  EXPECT_EQ(found.size(), kThreads * kEach);
  EXPECT_TRUE(told.empty());
}

TEST_F(Recorder, KeepsWhatTheHostDoesForGraphs) {
  begin();
  GraphRecord plan;
  plan.start = 5, plan.end = 9, plan.work = HostWork::kPlan, plan.need = Need::kShapes;
  plan.graph = number_of("__inference_step_7"), plan.reason = number_of("argument x was float32[2] and is float32[3]");
  add(plan);
  stop();
  const auto found = read<GraphRecord>(folder / "host/data" / kGraphFile);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].start, 5);
  EXPECT_EQ(found[0].need, Need::kShapes);
  EXPECT_STREQ(text_of(found[0].graph), "__inference_step_7");
}

TEST_F(Recorder, NumbersTexts) {
  const uint32_t before = number_of("before");
  begin();
  EXPECT_EQ(number_of(""), 0u);
  const uint32_t first = number_of("first"), second = number_of("second");
  EXPECT_EQ(number_of("first"), first);
  EXPECT_EQ(number_of("before"), before);
  EXPECT_STREQ(text_of(second), "second");
  EXPECT_STREQ(text_of(0), "");
  stop();
  std::ifstream file(folder / "host/data" / kTextFile, std::ios::binary);
  std::vector<std::string> texts{""};
  for (uint32_t length = 0; file.read(reinterpret_cast<char*>(&length), sizeof length);)
    file.read(texts.emplace_back(length, '\0').data(), length);
  ASSERT_GT(texts.size(), std::max(first, second));
  EXPECT_EQ(texts[before], "before");  // a recording has those of the ones before it
  EXPECT_EQ(texts[first], "first");
  EXPECT_EQ(texts[second], "second");
}

TEST_F(Recorder, NumbersTextsThatStayByTheirAddress) {
  begin();
  // More than a thread remembers the places of.
  std::vector<std::string> all;
  for (int i = 0; i < 600; ++i) all.push_back("c" + std::to_string(i));
  std::vector<uint32_t> numbers;
  for (const std::string& text : all) numbers.push_back(number_of_constant(text.c_str()));
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_STREQ(text_of(numbers[i]), all[i].c_str());
    EXPECT_EQ(number_of_constant(all[i].c_str()), numbers[i]);
    EXPECT_EQ(number_of(all[i]), numbers[i]);
  }
}

TEST_F(Recorder, KeepsLabelsByAllOfTheirKey) {
  const std::vector<uint64_t> key{1, 2, 3}, other{1, 2, 4}, shorter{1, 2};
  EXPECT_EQ(known_labels(key), nullptr);
  keep_labels(key, {Unit::kCube, 5, 6, 7, 8});
  ASSERT_NE(known_labels(key), nullptr);
  EXPECT_EQ(known_labels(key)->outputs, 8u);
  EXPECT_EQ(known_labels(other), nullptr);
  EXPECT_EQ(known_labels(shorter), nullptr);
  std::thread([&] { EXPECT_EQ(known_labels(key), nullptr) << "they are of the thread"; }).join();
}

TEST_F(Recorder, AFolderThatTakesNoFilesIsRefused) {
  fs::remove_all(folder / "host");
  try {
    begin();
    FAIL() << "it began";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidParam);
    EXPECT_NE(error.message().find(kTextFile), std::string::npos) << error.message();
  }
  EXPECT_FALSE(on());
}

TEST_F(Recorder, BothClocksAreReadAtOnce) {
  std::vector<int64_t> shifts;
  for (int i = 0; i < 200; ++i) {
    const int64_t before = now();
    const Moment read = both_clocks();
    EXPECT_LE(before, read.monotonic);
    EXPECT_LE(read.monotonic, now());
    shifts.push_back(read.people - read.monotonic);
  }
  const auto [least, most] = std::ranges::minmax(shifts);
  EXPECT_LT(most - least, 1'000'000) << "they drift by less, unless the clock of people is set meanwhile";
}

TEST_F(Recorder, WhoListensHearsWithoutAnyFile) {
  struct Heard final : Listener {
    void heard(const TaskRecord& record) override { tasks.push_back(record); }
    void heard(const CallRecord& record) override { calls.push_back(record); }
    void heard(const MarkRecord&) override {}
    void heard(const MemoryRecord&) override {}
    void begun(const MarkRecord&) override {}
    void entered(uint32_t call, const Owners& owners) override { entries.emplace_back(call, owners[1]); }
    std::vector<TaskRecord> tasks;
    std::vector<CallRecord> calls;
    std::vector<std::pair<uint32_t, uint64_t>> entries;
  };
  Heard heard;
  set_device(0);
  Stream& stream = default_stream();
  listen(&heard);
  EXPECT_TRUE(on());
  owners_here()[1] = 7;
  {
    const CallScope call("outer", Level::kRuntime);
    stream.launch({.name = "copy", .cost_ns = 0, .flags = kTaskKernel, .body = [] { moves(Move::kFill, 12); }});
  }
  owners_here()[1] = 0;
  const Owners prepared{0, 9, 0, 0};
  {
    const CallScope call("prepared elsewhere", Level::kOperator);
    call.prepared_for(prepared);
  }
  stream.synchronize();
  listen(nullptr);
  { const CallScope call("late", Level::kRuntime); }
  ASSERT_EQ(heard.calls.size(), 2u);
  EXPECT_STREQ(text_of(heard.calls[0].name), "outer");
  ASSERT_EQ(heard.tasks.size(), 1u);
  EXPECT_EQ(heard.tasks[0].call, heard.calls[0].number);
  EXPECT_EQ(heard.tasks[0].move, Move::kFill);
  EXPECT_EQ(heard.tasks[0].bytes, 12u);
  ASSERT_EQ(heard.entries.size(), 2u);
  EXPECT_EQ(heard.entries[0], std::pair(heard.calls[0].number, uint64_t{7}));
  EXPECT_EQ(heard.entries[1], std::pair(heard.calls[1].number, uint64_t{9}));
}

TEST_F(Recorder, WritesNothingBeforeAndAfter) {
  add(CallRecord{1, 2, 0, 0, Level::kRuntime, 0});
  begin();
  stop();
  add(CallRecord{1, 2, 0, 0, Level::kRuntime, 0});
  EXPECT_FALSE(fs::exists(calls()));
}

TEST_F(Recorder, WhatAKilledForkWroteIsThere) {
  const pid_t child = fork();
  if (child == 0) {
    begin();
    for (int i = 0; i < 10; ++i) add(CallRecord{1, 2, 0, number_of("call"), Level::kRuntime, 0});
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read<CallRecord>(calls()).size(), 10u);
}

TEST_F(Recorder, AForkWithoutRoomOnTheDiskSaysSo) {
  const pid_t child = fork();  // the limit is the process'
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{kPieceBytes / 2, kPieceBytes / 2};  // texts have room
    setrlimit(RLIMIT_FSIZE, &limit);
    begin();
    add(CallRecord{1, 2, 0, 0, Level::kRuntime, 0});
    add(CallRecord{1, 2, 0, 0, Level::kRuntime, 0});
    const bool once = told.size() == 1 && told[0].find(kCallFile) != std::string::npos;
    _exit(once && !on() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(Recorder, AForkedChildWritesNothing) {
  begin();
  add(CallRecord{1, 2, 1, 0, Level::kRuntime, 0});
  const pid_t child = fork();
  if (child == 0) {
    add(CallRecord{1, 2, 2, 0, Level::kRuntime, 0});
    _exit(on() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  stop();
  EXPECT_EQ(read<CallRecord>(calls()).size(), 1u);
}

TEST_F(Recorder, TasksOfAStreamTellWhenTheyWereQueued) {
  set_device(0);
  Stream& stream = default_stream();
  begin();
  const int64_t before = now();
  stream.launch({.name = "plain", .cost_ns = 0, .flags = kTaskKernel, .body = [] {}});
  stream.launch({.name = "known", .cost_ns = 0, .flags = kTaskKernel, .body = [] { TaskScope::current()->told(); }});
  stream.launch({.name = "last", .cost_ns = kInlineBound + 1, .flags = kTaskKernel, .body = [] {}});
  stream.synchronize();
  const int64_t after = now();
  stop();
  const std::vector<TaskRecord> found = read<TaskRecord>(tasks(0));
  ASSERT_EQ(found.size(), 2u);  // who knows an operator writes it down
  for (const TaskRecord& task : found) {
    EXPECT_LE(before, task.launched);
    EXPECT_LE(task.launched, task.start);
    EXPECT_LE(task.start, task.end);
    EXPECT_LE(task.end, after);
    EXPECT_EQ(task.launcher, static_cast<uint32_t>(gettid()));
    EXPECT_EQ(task.stream, stream.id());
  }
  EXPECT_EQ(found[1].number, found[0].number + 2);
}

}  // namespace
}  // namespace npu::device::trace
