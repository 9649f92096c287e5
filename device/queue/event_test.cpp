// SPDX-License-Identifier: Apache-2.0
#include "device/queue/event.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "device/context/context.h"
#include "device/context/state.h"
#include "device/device_fixture.h"
#include "device/queue/stream.h"
#include "device/queue/stream_table.h"

namespace npu::device {
namespace {

class EventTest : public testing::Test {
 protected:
  DefaultLaunches defaults_;
  void* first_handle_ = (set_device(0), create_stream());
  void* second_handle_ = create_stream();
  Stream& first_ = stream_from_handle(first_handle_);
  Stream& second_ = stream_from_handle(second_handle_);
  void* event_ = create_event(0);
  std::atomic<bool> go_{false};

  void TearDown() override {
    go_ = true;
    destroy_stream_force(second_handle_);
    destroy_stream_force(first_handle_);
    if (event_ != nullptr) destroy_event(event_);
  }
  static void break_stream(Stream& stream) {
    stream.launch({"bad", 0, kTaskKernel, [] { fail(Code::kNnRuntime, "broken"); }});
  }
  void hold(Stream& stream) {
    stream.launch({"gate", 0, kTaskMayWait, [this, &stream] {
                     while (!go_ && !stream.aborting()) std::this_thread::yield();
                   }});
  }
};

TEST_F(EventTest, CompletesWithItsStream) {
  EXPECT_TRUE(event_complete(event_)) << "never recorded: nothing to wait for";
  synchronize_event(event_);
  hold(first_);
  record_event(event_, first_);
  EXPECT_FALSE(event_complete(event_));
  EXPECT_ERROR(synchronize_event(event_, 10), Code::kEventSyncTimeout, "within 10 ms");
  go_ = true;
  synchronize_event(event_, 10'000);
  EXPECT_TRUE(event_complete(event_));
}

TEST_F(EventTest, AWaitHoldsTheOtherStream) {
  std::atomic<int> ran{0};
  hold(first_);
  record_event(event_, first_);
  wait_event(second_, event_);
  second_.launch({"after", 0, kTaskKernel, [&] { ran = 1; }});
  EXPECT_FALSE(event_waits_complete(event_));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(ran, 0);
  go_ = true;
  second_.synchronize();
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(event_waits_complete(event_));
}

TEST_F(EventTest, AWaitBindsToTheRecordBeforeIt) {
  std::atomic<bool> second_gate{false};
  record_event(event_, first_);
  hold(first_);
  record_event(event_, first_);
  wait_event(second_, event_);  // waits for the second record
  void* third = create_stream();
  record_event(event_, stream_from_handle(third));  // reached at once, and no business of the wait above
  EXPECT_TRUE(event_complete(event_));
  second_.launch({"after", 0, kTaskKernel, [&] { second_gate = true; }});
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(second_gate);
  go_ = true;
  second_.synchronize();
  EXPECT_TRUE(second_gate);
  destroy_stream(third);
}

TEST_F(EventTest, MayBeDestroyedWhileWaitedFor) {
  hold(first_);
  record_event(event_, first_);
  wait_event(second_, event_);
  destroy_event(event_);
  EXPECT_ERROR(event_complete(event_), Code::kRtInvalidHandle, "was destroyed");
  event_ = nullptr;
  go_ = true;
  second_.synchronize(10'000);
}

TEST_F(EventTest, ResetForgetsTheRecord) {
  hold(first_);
  record_event(event_, first_);
  reset_event(event_, first_);
  EXPECT_FALSE(event_complete(event_));
  go_ = true;
  first_.synchronize();
  EXPECT_TRUE(event_complete(event_));
  EXPECT_ERROR(event_timestamp_us(event_), Code::kRtEventTimestamp, "was not recorded");
}

TEST_F(EventTest, AResetLeavesWhatIsRecordedAfterIt) {
  hold(first_);
  record_event(event_, first_);
  reset_event(event_, first_);
  record_event(event_, first_);
  go_ = true;
  first_.synchronize();
  EXPECT_GT(event_timestamp_us(event_), 0u) << "the second record is no business of the reset before it";
}

TEST_F(EventTest, MeasuresTime) {
  void* end = create_event(kEventTimeline);
  EXPECT_ERROR(elapsed_ms(event_, end), Code::kRtEventTimestamp, "start event was not recorded");
  record_event(event_, first_);
  first_.launch(
      {"sleep", kInlineBound + 1, kTaskKernel, [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }});
  record_event(end, first_);
  EXPECT_ERROR(elapsed_ms(event_, end), Code::kRtEventTimestamp, "not reached yet");
  synchronize_event(end);
  EXPECT_GE(elapsed_ms(event_, end), 19.0f);
  EXPECT_LT(elapsed_ms(event_, end), 10'000.0f);
  EXPECT_ERROR(elapsed_ms(end, event_), Code::kRtEventTimestampReversal, "swap them");
  EXPECT_GT(event_timestamp_us(end), event_timestamp_us(event_));
  void* plain = create_event(kEventSync);
  record_event(plain, first_);
  first_.synchronize();
  EXPECT_ERROR(elapsed_ms(event_, plain), Code::kRtEventTimestamp, "ACL_EVENT_TIME_LINE");
  destroy_event(plain);
  destroy_event(end);
}

TEST_F(EventTest, WaitsEndAtTheTimeout) {
  hold(first_);
  record_event(event_, first_);
  set_op_wait_timeout(1);
  wait_event(second_, event_);
  EXPECT_ERROR(second_.synchronize(), Code::kRtWaitTimeout, "event wait failed on stream");
  set_op_wait_timeout(0);
}

TEST_F(EventTest, AWaitGivenUpDropsWhatComesAfterIt) {
  bool ran = false;
  hold(first_);
  record_event(event_, first_);
  set_op_wait_timeout(1);
  wait_event(second_, event_);
  second_.launch({"after", 0, kTaskKernel, [&] { ran = true; }});
  EXPECT_ERROR(second_.synchronize(), Code::kRtWaitTimeout, "not reached within 1 s");
  set_op_wait_timeout(0);
  EXPECT_FALSE(ran) << "what it needs was not there";
}

TEST_F(EventTest, TellsTheErrorOfTheWorkBeforeIt) {
  break_stream(first_);
  record_event(event_, first_);
  for (int i = 0; i < 2; ++i) EXPECT_ERROR(event_complete(event_), Code::kNnRuntime, "broken");
  EXPECT_ERROR(synchronize_event(event_), Code::kNnRuntime, "broken");
  EXPECT_ERROR(first_.synchronize(), Code::kNnRuntime, "broken");
  EXPECT_TRUE(event_complete(event_)) << "all have been told, and the client goes on";
  break_stream(first_);
  record_event(event_, first_);
  EXPECT_ERROR(first_.synchronize(), Code::kNnRuntime, "broken");
  EXPECT_ERROR(event_complete(event_), Code::kNnRuntime, "broken");  // who asks for this record shall hear it, too
  EXPECT_TRUE(event_complete(event_));
}

TEST_F(EventTest, AWaitingStreamTakesTheFailureOver) {
  enum class When { kBefore, kReached, kTold, kDestroyed };
  for (const When when : {When::kBefore, When::kReached, When::kTold, When::kDestroyed}) {
    void* third = create_stream();
    Stream& broken = stream_from_handle(third);
    bool ran = false;
    go_ = when != When::kBefore;
    hold(broken);
    break_stream(broken);
    record_event(event_, broken);
    if (when != When::kBefore) {
      EXPECT_ANY_THROW(synchronize_event(event_));
    }
    if (when == When::kTold) {
      EXPECT_ANY_THROW(broken.synchronize());
    }
    if (when == When::kDestroyed) {
      EXPECT_ERROR(destroy_stream(third), Code::kNnRuntime, "broken");
    }
    wait_event(second_, event_);
    second_.launch({"after", 0, kTaskKernel, [&] { ran = true; }});
    go_ = true;
    EXPECT_ERROR(while (!second_.query()) std::this_thread::yield(), Code::kNnRuntime, "broken");
    EXPECT_ERROR(second_.synchronize(), Code::kNnRuntime, "broken");  // a query leaves it to the synchronisation
    EXPECT_FALSE(ran) << "case " << static_cast<int>(when);
    second_.launch({"fine", 0, kTaskKernel, [&] { ran = true; }});
    second_.synchronize();
    EXPECT_TRUE(ran) << "after the error was told the stream goes on";
    if (when == When::kDestroyed) continue;
    if (when != When::kTold) {
      EXPECT_ERROR(broken.synchronize(), Code::kNnRuntime, "broken");
    }
    destroy_stream(third);
  }
}

TEST_F(EventTest, AFailureTravelsFromStreamToStream) {
  void* end = create_event(0);
  void* third_handle = create_stream();
  Stream& third = stream_from_handle(third_handle);
  bool ran = false;
  hold(first_);
  break_stream(first_);
  record_event(event_, first_);
  wait_event(second_, event_);
  record_event(end, second_);
  wait_event(third, end);
  third.launch({"after", 0, kTaskKernel, [&] { ran = true; }});
  go_ = true;
  EXPECT_ERROR(third.synchronize(), Code::kNnRuntime, "broken");
  EXPECT_FALSE(ran);
  EXPECT_ERROR(synchronize_event(end), Code::kNnRuntime, "broken");
  EXPECT_ERROR(second_.synchronize(), Code::kNnRuntime, "broken");  // nobody has asked this stream yet
  EXPECT_ERROR(first_.synchronize(), Code::kNnRuntime, "broken");
  first_.synchronize();
  record_event(end, first_);
  wait_event(third, end);
  third.synchronize();
  destroy_event(end);
  destroy_stream(third_handle);
}

TEST_F(EventTest, ADeviceTellsAFailureOnceForAllStreamsThatShareIt) {
  break_stream(first_);
  record_event(event_, first_);
  wait_event(second_, event_);
  void* third_handle = create_stream();
  Stream& third = stream_from_handle(third_handle);
  third.launch({"worse", 0, kTaskKernel, [] { fail(Code::kNnInner, "other"); }});
  // Which of the two comes first depends on the places of the streams.
  std::set<Code> told;
  for (int i = 0; i < 2; ++i) {
    try {
      synchronize_device();
    } catch (const Error& error) {
      told.insert(error.code());
    }
  }
  EXPECT_EQ(told, (std::set{Code::kNnRuntime, Code::kNnInner}));
  synchronize_device();  // the stream that shared a failure keeps none
  destroy_stream(third_handle);
}

TEST_F(EventTest, WrongHandlesAreRefused) {
  EXPECT_ERROR(record_event(nullptr, first_), Code::kRtInvalidHandle, "handle of an event is null");
  EXPECT_ERROR(wait_event(first_, first_handle_), Code::kRtInvalidHandle, "is the handle of a stream");
  EXPECT_ERROR(destroy_event(&go_), Code::kRtInvalidHandle, "is not the handle of an event");
  EXPECT_ERROR(create_event(kEventIpc), Code::kFeatureUnsupported, "ACL_EVENT_IPC");
}

}  // namespace
}  // namespace npu::device
