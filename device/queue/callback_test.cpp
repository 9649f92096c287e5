// SPDX-License-Identifier: Apache-2.0
#include "device/queue/callback.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "device/context/context.h"
#include "device/device_fixture.h"
#include "device/queue/stream.h"
#include "device/queue/stream_table.h"

namespace npu::device {
namespace {

class CallbackTest : public testing::Test {
 protected:
  void* handle_ = (set_device(0), create_stream());
  Stream& stream_ = stream_from_handle(handle_);
  std::atomic<bool> stop_{false};
  std::atomic<bool> ready_{false};
  uint64_t id_ = 0;
  std::thread reporter_;

  void start_reporter() {
    reporter_ = std::thread([this] {
      id_ = pthread_self();
      ready_ = true;
      while (!stop_) raised([] { process_report(20); });
    });
    while (!ready_) std::this_thread::yield();
  }
  void TearDown() override {
    stop_ = true;
    if (reporter_.joinable()) reporter_.join();
    destroy_stream_force(handle_);
  }
};

std::atomic<int> count{0};
void count_up(void* step) { count += *static_cast<int*>(step); }
int one = 1;
int ten = 10;

TEST_F(CallbackTest, RunInTheSubscribedThread) {
  count = 0;
  start_reporter();
  subscribe(id_, stream_);
  int seen = -1;
  launch_callback(
      stream_,
      [](void*) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        count += 5;
      },
      nullptr, true);
  stream_.launch({"after", 0, kTaskKernel, [&] { seen = count; }});
  stream_.synchronize();
  EXPECT_EQ(seen, 5) << "a blocking callback holds the stream";
  launch_callback(stream_, count_up, &one, false);
  stream_.synchronize();
  unsubscribe(id_, stream_);
  EXPECT_EQ(count, 6) << "a callback that is due runs before the subscription ends";
}

TEST_F(CallbackTest, NeedASubscription) {
  EXPECT_ERROR(launch_callback(stream_, count_up, &one, true), Code::kStreamNotSubscribed, "aclrtSubscribeReport");
  EXPECT_ERROR(process_report(5), Code::kRtThreadSubscribe, "subscribed to no stream");
  const uint64_t self = pthread_self();
  subscribe(self, stream_);
  EXPECT_ERROR(subscribe(self, stream_), Code::kRepeatSubscribe, "callback thread already");
  EXPECT_ERROR(process_report(5), Code::kReportTimeout, "within 5 ms");
  EXPECT_ERROR(unsubscribe(self + 1, stream_), Code::kStreamNotSubscribed, "is not the callback thread");
  count = 0;
  launch_callback(stream_, count_up, &ten, true);
  process_report(10'000);
  EXPECT_EQ(count, 10);
  unsubscribe(self, stream_);
}

TEST_F(CallbackTest, UnsubscribingFreesTheStream) {
  const uint64_t self = pthread_self();
  subscribe(self, stream_);
  std::atomic<bool> begun{false};  // on a busy machine the stream's thread takes its time
  stream_.launch({"begin", 0, kTaskCallback, [&] { begun = true; }});
  launch_callback(stream_, count_up, &one, true);
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  unsubscribe(self, stream_);
  EXPECT_NO_THROW(stream_.synchronize(10'000));
}

TEST_F(CallbackTest, HostFunctionsRunInOrder) {
  count = 0;
  launch_host_function(stream_, count_up, &ten);
  int seen = 0;
  stream_.launch({"after", 0, kTaskKernel, [&] { seen = count; }});
  stream_.synchronize();
  EXPECT_EQ(seen, 10);
}

TEST_F(CallbackTest, WorkMayWaitForTheThreadOfACallback) {
  EXPECT_FALSE(is_awaited_by_work());
  start_reporter();
  subscribe(id_, stream_);
  static std::atomic<int> awaited;
  awaited = 0;
  launch_callback(stream_, [](void*) { awaited += is_awaited_by_work() ? 1 : 0; }, nullptr, true);
  launch_host_function(stream_, [](void*) { awaited += is_awaited_by_work() ? 10 : 0; }, nullptr);
  stream_.synchronize();
  EXPECT_EQ(awaited, 11);
  subscribe(pthread_self(), stream_from_handle(nullptr));
  EXPECT_TRUE(is_awaited_by_work()) << "callbacks are due here sooner or later";
  unsubscribe(pthread_self(), stream_from_handle(nullptr));
  EXPECT_FALSE(is_awaited_by_work());
}

}  // namespace
}  // namespace npu::device
