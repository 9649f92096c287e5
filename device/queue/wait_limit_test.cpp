// SPDX-License-Identifier: Apache-2.0
#include "device/queue/wait_limit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "device/context/context.h"
#include "device/device_fixture.h"
#include "device/queue/event.h"
#include "device/queue/stream.h"

namespace npu::device {
namespace {

class WaitLimitTest : public testing::Test {
 protected:
  DefaultLaunches defaults_;
  void* handle_ = (set_device(0), create_stream());
  Stream& stream_ = stream_from_handle(handle_);
  std::atomic<bool> started_{false}, go_{false};

  void TearDown() override {
    set_wait_limits(-1, -1);
    go_ = true;
    destroy_stream(handle_);
  }
  /// The stream executes a task until go_.
  void hold() {
    stream_.launch({"aclnnMm", 0, kTaskMayWait, [this] {
                      started_ = true;
                      while (!go_) std::this_thread::yield();
                    }});
    while (!started_) std::this_thread::yield();
  }
};

TEST_F(WaitLimitTest, AWaitThatIsTooLongTellsStreamTaskAndOption) {
  set_wait_limits(20, 10);
  hold();
  const std::string place = "stream " + std::to_string(stream_.id()) + " of device 0";
  EXPECT_ERROR(stream_.synchronize(stream_wait_limit()), Code::kStreamSyncTimeout,
               place + " still has 1 tasks to run after 20 ms (option stream_sync_timeout); it executes aclnnMm");
  EXPECT_ERROR(synchronize_device(stream_wait_limit()), Code::kStreamSyncTimeout, "; it executes aclnnMm");
  void* event = create_event(0);
  record_event(event, stream_);
  EXPECT_ERROR(
      synchronize_event(event, event_wait_limit()), Code::kEventSyncTimeout,
      "the event was not reached within 10 ms (option event_sync_timeout) on " + place + "; it executes aclnnMm");
  go_ = true;
  // Nothing is lost: whoever waits again sees the work done.
  stream_.synchronize();
  synchronize_event(event);
  set_wait_limits(60'000, 60'000);
  stream_.launch({"later", 0, kTaskKernel, [] {}});
  stream_.synchronize(stream_wait_limit());
  destroy_event(event);
}

TEST_F(WaitLimitTest, MinusOneAndZeroAreNoLimit) {
  set_wait_limits(5, 5);
  set_wait_limits(0, -1);
  EXPECT_TRUE(stream_wait_limit().none());
  EXPECT_TRUE(event_wait_limit().none());
}

TEST_F(WaitLimitTest, OtherNegativeNumbersAreRefusedAndChangeNothing) {
  set_wait_limits(7, 8);
  EXPECT_ERROR(set_wait_limits(-2, 1), Code::kRtParamInvalid, "stream_sync_timeout is -2; give milliseconds");
  EXPECT_ERROR(set_wait_limits(1, -9), Code::kRtParamInvalid, "event_sync_timeout is -9; give milliseconds");
  EXPECT_EQ(stream_wait_limit().milliseconds, 7);
  EXPECT_EQ(event_wait_limit().milliseconds, 8);
}

}  // namespace
}  // namespace npu::device
