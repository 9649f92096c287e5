// SPDX-License-Identifier: Apache-2.0
#include "device/queue/stream.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "device/context/context.h"
#include "device/device_fixture.h"
#include "device/queue/event.h"
#include "device/queue/stream_table.h"

namespace npu::device {
namespace {

class StreamTest : public testing::Test {
 protected:
  DefaultLaunches defaults_;
  void SetUp() override { set_device(0); }
  void* handle_ = (set_device(0), create_stream());
  Stream& stream_ = stream_from_handle(handle_);
  void TearDown() override {
    detail::inline_kernels.override(true);
    detail::launch_blocking.override(false);
    go_ = true;
    if (find_stream(handle_) != nullptr) destroy_stream_force(handle_);
  }
  // Holds the stream until go_.
  void launch_gate() {
    stream_.launch({"gate", 0, kTaskMayWait, [this] {
                      while (!go_ && !stream_.aborting()) std::this_thread::yield();
                    }});
  }
  std::atomic<bool> go_{false};
};

TEST_F(StreamTest, SmallKernelsRunInTheLaunchingThread) {
  std::thread::id ran_in;
  const auto record = [&] { ran_in = std::this_thread::get_id(); };
  stream_.launch({"small", 1000, kTaskKernel, record});
  EXPECT_EQ(ran_in, std::this_thread::get_id());
  stream_.launch({"large", kInlineBound + 1, kTaskKernel, record});
  stream_.synchronize();
  EXPECT_NE(ran_in, std::this_thread::get_id());
  stream_.launch({"copy", 0, kTaskHostCopy, record});
  while (!stream_.query()) std::this_thread::yield();
  EXPECT_NE(ran_in, std::this_thread::get_id());
  detail::inline_kernels.override(false);
  stream_.launch({"small", 0, kTaskKernel, record});
  stream_.synchronize();
  EXPECT_NE(ran_in, std::this_thread::get_id());
}

// Which thread comes first is not known, so both must do it, and do it in order; who waits comes first now and then.
TEST_F(StreamTest, AThreadThatWaitsRunsShortTasksItself) {
  const std::thread::id here = std::this_thread::get_id();
  std::vector<int> order;
  int ran_here = 0, tasks = 0;
  for (int i = 0; i < 20'000 && ran_here < 10; ++i) {
    stream_.launch({"collective", 0, kTaskMayWait, [&] {
                      order.push_back(tasks++);
                      ran_here += std::this_thread::get_id() == here ? 1 : 0;
                    }});
    stream_.launch({"small", 0, kTaskKernel, [&] { order.push_back(tasks++); }});
    stream_.synchronize();
    ASSERT_EQ(order.size(), 2 * static_cast<size_t>(i + 1));
  }
  EXPECT_EQ(ran_here, 10);
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST_F(StreamTest, AThreadThatWaitsLeavesLongTasksCallbacksAndLimitsToTheStream) {
  const std::thread::id here = std::this_thread::get_id();
  int ran_here = 0;
  const auto count = [&] { ran_here += std::this_thread::get_id() == here ? 1 : 0; };
  for (int i = 0; i < 500; ++i) {
    stream_.launch({"long", kInlineBound + 1, kTaskKernel, count});
    stream_.launch({"callback", 0, kTaskCallback, count});
    stream_.synchronize();
    stream_.launch({"collective", 0, kTaskMayWait, count});
    stream_.synchronize(60'000);
  }
  EXPECT_EQ(ran_here, 0);
}

TEST_F(StreamTest, AThreadThatWaitsSleepsUntilTheLastTaskIsDone) {
  constexpr int kTasks = 300;
  for (int i = 0; i < kTasks; ++i)
    stream_.launch({"long", kInlineBound + 1, kTaskKernel, [] {
                      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
                      while (std::chrono::steady_clock::now() < end) {
                      }
                    }});
  // Each time that it wakes, it goes to sleep again.
  const auto times_slept = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  };
  const auto before = times_slept();
  stream_.synchronize();
  EXPECT_LT(times_slept() - before, kTasks / 10);
}

class BoundedQueue : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    detail::queue_tasks.override(8);
  }
  void TearDown() override {
    StreamTest::TearDown();
    detail::queue_tasks.override(1024);
    detail::queue_ms.override(500);
  }
  static void rest(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }
  // The most tasks that had been launched and not run, of `count` that take a millisecond.
  int furthest_ahead(int count, int64_t expected_ns) {
    std::atomic<int> done{0};
    int furthest = 0;
    for (int launched = 1; launched <= count; ++launched) {
      stream_.launch({"long", expected_ns, kTaskKernel, [&] { rest(1), ++done; }});
      furthest = std::max(furthest, launched - done);
    }
    stream_.synchronize();
    EXPECT_EQ(done, count);
    return furthest;
  }
};

// One runs, and one has run and is not counted yet.
TEST_F(BoundedQueue, ALaunchWaitsForRoom) { EXPECT_LE(furthest_ahead(60, kInlineBound + 1), 8 + 2); }

TEST_F(BoundedQueue, ALaunchWaitsForWorkThatIsExpectedToTakeLong) {
  detail::queue_tasks.override(0);
  detail::queue_ms.override(10);
  // An estimate is at most 16 times too high.
  EXPECT_LE(furthest_ahead(60, 5'000'000), 16 * 2 + 2);
  // One that is too low is soon known to be.
  furthest_ahead(100, kInlineBound + 1);
  EXPECT_LE(furthest_ahead(100, kInlineBound + 1), 10 * 16 + 2);
}

TEST_F(BoundedQueue, ItHasNoBoundWhereNoneIsAskedFor) {
  detail::queue_tasks.override(0);
  detail::queue_ms.override(0);
  std::atomic<int> done{0};
  launch_gate();
  for (int i = 0; i < 3000; ++i) stream_.launch({"long", kInlineBound + 1, kTaskKernel, [&] { ++done; }});
  EXPECT_EQ(done, 0);
  go_ = true;
  stream_.synchronize();
  EXPECT_EQ(done, 3000);
}

// The first task waits for what is launched last, by the same thread.
TEST_F(BoundedQueue, ALaunchGoesOnWhereTheStreamWaitsForIt) {
  void* const other = create_stream();
  std::atomic<int> done{0};
  launch_gate();
  for (int i = 0; i < 12; ++i) stream_.launch({"long", kInlineBound + 1, kTaskKernel, [&] { ++done; }});
  stream_from_handle(other).launch({"opens the gate", kInlineBound + 1, kTaskKernel, [&] { go_ = true; }});
  stream_.synchronize();
  EXPECT_EQ(done, 12);
  destroy_stream(other);
}

// A task that waits to launch would hold its own stream up, for which the full one may wait.
TEST_F(BoundedQueue, TasksLaunchWithoutWaiting) {
  void* const other = create_stream();
  Stream& full = stream_from_handle(other);
  std::atomic<bool> launched{false};
  std::atomic<int> done{0};
  full.launch({"waits", 0, kTaskMayWait, [&] {
                 while (!launched) std::this_thread::yield();
               }});
  stream_.launch({"launches", kInlineBound + 1, kTaskKernel, [&] {
                    for (int i = 0; i < 100; ++i) full.launch({"long", kInlineBound + 1, kTaskKernel, [&] { ++done; }});
                    launched = true;
                  }});
  stream_.synchronize();
  full.synchronize();
  EXPECT_EQ(done, 100);
  destroy_stream(other);
}

// Each hears of its own task, though another one waits for a later one.
TEST_F(StreamTest, ThreadsWaitForTasksOfTheirOwn) {
  std::atomic<int> done{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        stream_.launch({"long", kInlineBound + 1, kTaskKernel, [&] { ++done; }});
        if (round % 3 == 0) stream_.synchronize(round % 2 == 0 ? WaitLimit(-1) : WaitLimit(60'000));
      }
      stream_.synchronize();
    });
  threads.clear();
  EXPECT_EQ(done, 1600);
}

TEST_F(StreamTest, WhoWaitsForLessIsNotKeptByWhoWaitsForMore) {
  std::atomic<bool> go{false};
  launch_gate();
  std::jthread less([&] {
    stream_.synchronize();
    go = true;
  });
  // Both sleep when the gate opens, unless the machine is busy: then this shows nothing.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  stream_.launch({"long", 0, kTaskMayWait, [&] {
                    while (!go && !stream_.aborting()) std::this_thread::yield();
                  }});
  std::jthread more([&] { stream_.synchronize(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  go_ = true;
  for (int i = 0; i < 1000 && !go; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(go);
  go = true;
}

TEST_F(StreamTest, WhatAWaitingThreadDoesNotWaitForIsRunAllTheSame) {
  std::atomic<int> ran = 0;
  for (int i = 1; i <= 200; ++i) {
    stream_.launch({"collective", 0, kTaskMayWait, [&] {
                      // The stream's thread has seen meanwhile that another runs its task.
                      std::this_thread::sleep_for(std::chrono::milliseconds(1));
                      stream_.launch({"next", 0, kTaskMayWait, [&] { ++ran; }});
                    }});
    stream_.synchronize();
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (ran < i && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    ASSERT_EQ(ran, i);
  }
}

TEST_F(StreamTest, EndsWhileAnotherThreadRunsItsTasks) {
  for (int i = 0; i < 100; ++i) {
    void* const handle = create_stream();
    Stream& stream = stream_from_handle(handle);
    std::atomic<int> ran = 0;
    for (int task = 0; task < 2; ++task)
      stream.launch({"collective", 0, kTaskMayWait, [&] {
                       ++ran;
                       std::this_thread::sleep_for(std::chrono::milliseconds(1));
                     }});
    std::jthread waiting([&] { stream.synchronize(); });
    while (ran == 0) std::this_thread::yield();
    destroy_stream(handle);  // the stream's thread finds a task that it may not take yet
    EXPECT_EQ(ran, 2);
  }
}

TEST_F(StreamTest, KeepsOrderBehindWaitingWork) {
  std::vector<int> order;
  launch_gate();
  for (int i = 0; i < 100; ++i) stream_.launch({"step", 0, kTaskKernel, [&order, i] { order.push_back(i); }});
  EXPECT_FALSE(stream_.query());
  go_ = true;
  stream_.synchronize();
  EXPECT_TRUE(stream_.query());
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_F(StreamTest, KeepsOrderWhereTheQueueGrowsFromItsMiddle) {
  std::vector<int> order;
  const auto launch = [&](int first, int last) {
    for (int i = first; i < last; ++i) stream_.launch({"step", 0, kTaskKernel, [&order, i] { order.push_back(i); }});
  };
  detail::inline_kernels.override(false);
  launch(0, 10);
  stream_.synchronize();  // the next one is not put at the first place
  launch_gate();
  launch(10, 100);
  go_ = true;
  stream_.synchronize();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_F(StreamTest, SynchroniseGivesUpInTime) {
  launch_gate();
  EXPECT_ERROR(stream_.synchronize(20), Code::kStreamSyncTimeout, "still has 1 tasks to run after 20 ms");
  EXPECT_ERROR(synchronize_device(10), Code::kStreamSyncTimeout, "after");
  EXPECT_ERROR(stream_.synchronize(0), Code::kStreamSyncTimeout, "after 0 ms");
  go_ = true;
  stream_.synchronize(10'000);
}

TEST_F(StreamTest, ErrorsSurfaceOnceInTheThreadThatAsks) {
  for (const bool in_line : {true, false}) {
    detail::inline_kernels.override(in_line);
    int later = 0;
    stream_.launch({"aclnnMm", 0, kTaskKernel, [] { fail(Code::kNnRuntime, "sizes differ"); }});
    stream_.launch({"later", 0, kTaskKernel, [&] { later = 1; }});
    EXPECT_ERROR(stream_.synchronize(), Code::kNnRuntime, "aclnnMm failed on stream");
    EXPECT_EQ(later, 1) << "work goes on after a failure";
    stream_.synchronize();
    stream_.launch({"op", 0, kTaskKernel, [] { throw std::runtime_error("odd"); }});
    EXPECT_ERROR(synchronize_device(), Code::kAicoreException, "odd");
    stream_.launch({"op", 0, kTaskKernel, [] { throw 1; }});
    EXPECT_ERROR(while (!stream_.query()) std::this_thread::yield();
                 stream_.query(), Code::kAicoreException, "unknown");
    EXPECT_ERROR(stream_.query(), Code::kAicoreException, "unknown");  // only a synchronisation takes it away
    EXPECT_ERROR(stream_.synchronize(), Code::kAicoreException, "unknown");
    EXPECT_TRUE(stream_.query());
  }
}

TEST_F(StreamTest, OfSeveralFailuresTheFirstIsTold) {
  stream_.launch({"cause", 0, kTaskKernel, [] { fail(Code::kNnRuntime, "first"); }});
  stream_.launch({"consequence", 0, kTaskKernel, [] { fail(Code::kNnInner, "second"); }});
  EXPECT_ERROR(stream_.synchronize(), Code::kNnRuntime, "cause failed on stream");
  stream_.synchronize();
}

TEST_F(StreamTest, NothingIsShownAfterAFailure) {
  int shown = 0, later = 0;
  const auto show = [&] { stream_.launch({"copy to host", 0, kTaskShows, [&] { ++shown; }}); };
  show();
  launch_gate();
  stream_.launch({"bad", 0, kTaskKernel, [] { fail(Code::kNnRuntime, "broken"); }});
  show();
  stream_.launch({"later", 0, kTaskKernel, [&] { ++later; }});
  go_ = true;
  EXPECT_ERROR(stream_.synchronize(), Code::kNnRuntime, "broken");
  EXPECT_EQ(shown, 1);
  EXPECT_EQ(later, 1) << "a stream in continue mode computes on";
  show();
  stream_.synchronize();
  EXPECT_EQ(shown, 2);
}

TEST_F(StreamTest, AllLaterWorkNeedsWhatAGateBrings) {
  bool ran = false;
  stream_.launch({"all_reduce", 0, kTaskMayWait | kTaskGates, [] { fail(Code::kNnRuntime, "peer is gone"); }});
  stream_.launch({"add", 0, kTaskKernel, [&] { ran = true; }});
  EXPECT_ERROR(stream_.synchronize(), Code::kNnRuntime, "peer is gone");
  EXPECT_FALSE(ran);
}

// A thread that comes after another was told finds peace, so on a busy machine one try may show fewer than four.
TEST_F(StreamTest, EveryThreadThatWaitsHearsOfTheFailure) {
  std::atomic<int> heard{0};
  for (int patience_ms = 10; patience_ms < 3000 && heard != 4; patience_ms *= 3) {
    go_ = false;
    heard = 0;
    launch_gate();
    stream_.launch({"bad", 0, kTaskKernel, [] { fail(Code::kNnRuntime, "broken"); }});
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        try {
          stream_.synchronize();
        } catch (const Error& error) {
          heard += error.message().find("broken") != std::string::npos;
        }
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(patience_ms));
    go_ = true;
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(heard, 4);
}

TEST_F(StreamTest, MemoryIsNotReadPastAFailureNobodyWasTold) {
  stream_.launch({"bad", 0, kTaskKernel, [] { fail(Code::kNnRuntime, "broken"); }});
  EXPECT_ERROR(refuse_after_failure(0), Code::kNnRuntime, "broken");
  EXPECT_ERROR(refuse_after_failure(0), Code::kNnRuntime, "broken");  // asking is not being told
  refuse_after_failure(1);
  EXPECT_ERROR(stream_.synchronize(), Code::kNnRuntime, "broken");
  refuse_after_failure(0);
}

TEST_F(StreamTest, StopModeDropsWorkUntilTheErrorIsHeard) {
  stream_.set_failure_mode(FailureMode::kStop);
  void* event = create_event(0);
  bool ran = false;
  launch_gate();
  stream_.launch({"bad", 0, kTaskKernel, [] { fail(Code::kNnRuntime, "first"); }});
  stream_.launch({"dropped", 0, kTaskKernel, [&] { ran = true; }});
  record_event(event, stream_);
  go_ = true;
  EXPECT_ERROR(synchronize_event(event), Code::kNnRuntime, "first");
  EXPECT_FALSE(ran);
  EXPECT_ERROR(stream_.synchronize(), Code::kNnRuntime, "first");
  stream_.launch({"bad", 0, kTaskKernel, [] { fail(Code::kNnRuntime, "second"); }});
  EXPECT_ERROR(stream_.launch({"refused", 0, kTaskKernel, [&] { ran = true; }}), Code::kNnRuntime, "second");
  EXPECT_ERROR(stream_.synchronize(), Code::kNnRuntime, "second");
  stream_.launch({"fine", 0, kTaskKernel, [&] { ran = true; }});
  stream_.synchronize();
  EXPECT_TRUE(ran);
  destroy_event(event);
}

TEST_F(StreamTest, BlockingLaunchRaisesAtOnce) {
  detail::launch_blocking.override(true);
  detail::inline_kernels.override(false);
  EXPECT_ERROR(stream_.launch({"bad", 0, kTaskKernel, [] { fail(Code::kNnRuntime, "now"); }}), Code::kNnRuntime, "now");
  launch_gate();  // tasks that may wait are not waited for
}

TEST_F(StreamTest, WhoWaitsForAKernelRunsIt) {
  const auto runs_on = [&] {
    std::thread::id thread;
    stream_.launch({"long", 10 * kInlineBound, kTaskKernel, [&] { thread = std::this_thread::get_id(); }});
    stream_.synchronize();
    return thread;
  };
  EXPECT_NE(runs_on(), std::this_thread::get_id());
  detail::launch_blocking.override(true);
  EXPECT_EQ(runs_on(), std::this_thread::get_id());
}

TEST_F(StreamTest, WrongHandlesAreRefused) {
  int local = 0;
  EXPECT_ERROR(stream_from_handle(&local), Code::kRtInvalidHandle, "is not the handle of a stream");
  void* event = create_event(0);
  EXPECT_ERROR(stream_from_handle(event), Code::kRtInvalidHandle, "is the handle of an event");
  destroy_event(event);
  EXPECT_ERROR(destroy_stream(nullptr), Code::kRtParamInvalid, "default stream");
  EXPECT_ERROR(destroy_stream(stream_from_handle(nullptr).handle()), Code::kRtParamInvalid, "default stream");
  destroy_stream(handle_);
  EXPECT_ERROR(stream_from_handle(handle_), Code::kRtInvalidHandle, "was destroyed");
  EXPECT_ERROR(destroy_stream(handle_), Code::kRtInvalidHandle, "was destroyed");
  EXPECT_ERROR(create_stream(8), Code::kRtParamInvalid, "priority 8");
}

TEST_F(StreamTest, DestroyDrainsAndForceDrops) {
  std::atomic<int> ran{0};
  launch_gate();
  stream_.launch({"work", 0, kTaskKernel, [&] { ++ran; }});
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    go_ = true;
  });
  destroy_stream(handle_);
  opener.join();
  EXPECT_EQ(ran, 1);

  go_ = false;
  void* second = create_stream();
  Stream& stream = stream_from_handle(second);
  void* event = create_event(0);
  stream.launch({"gate", 0, kTaskMayWait, [&] {
                   while (!stream.aborting()) std::this_thread::yield();
                 }});
  stream.launch({"work", 0, kTaskKernel, [&] { ++ran; }});
  record_event(event, stream);
  destroy_stream_force(second);
  EXPECT_EQ(ran, 1) << "queued work was dropped";
  EXPECT_TRUE(event_complete(event)) << "nobody may wait for ever";
  destroy_event(event);
}

TEST_F(StreamTest, ATaskCannotWaitForItsOwnStream) {
  stream_.launch({"self", 0, kTaskCallback, [this] { stream_.synchronize(); }});
  EXPECT_ERROR(stream_.synchronize(), Code::kRtStreamContext, "would wait for itself");
}

TEST_F(StreamTest, HookHearsOfFailures) {
  static std::atomic<int> code{0};
  static std::atomic<uint32_t> stream_id{0};
  set_failure_hook([](const TaskFailure& failure) {
    code = static_cast<int>(failure.code);
    stream_id = failure.stream_id;
  });
  stream_.launch({"bad", 0, kTaskKernel, [] { fail(Code::kNnRuntime, "x"); }});
  set_failure_hook(nullptr);
  EXPECT_EQ(code, static_cast<int>(Code::kNnRuntime));
  EXPECT_EQ(stream_id, static_cast<uint32_t>(stream_.id()));
  EXPECT_ANY_THROW(stream_.synchronize());
}

TEST_F(StreamTest, ManyThreadsShareOneStream) {
  int64_t sum = 0;  // the stream's order protects it
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i)
        stream_.launch({"add", i % 100 == 0 ? kInlineBound + 1 : 0, kTaskKernel, [&] { ++sum; }});
    });
  }
  for (std::thread& thread : threads) thread.join();
  stream_.synchronize();
  EXPECT_EQ(sum, 8000);
}

TEST(Streams, EightThreadsOnEightDevices) {
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int device = 0; device < 7; ++device) {
    threads.emplace_back([device, &failures] {
      set_device(device);
      Stream& stream = stream_from_handle(nullptr);
      int64_t sum = 0;
      for (int i = 0; i < 1000; ++i) {
        stream.launch({"add", i % 10 == 0 ? kInlineBound + 1 : 0, kTaskKernel, [&sum, i] { sum += i; }});
      }
      synchronize_device();
      if (sum != 499'500 || get_device() != device || stream.device() != device) ++failures;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace npu::device
