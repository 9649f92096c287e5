// SPDX-License-Identifier: Apache-2.0
#include "device/context/context.h"

#include <gtest/gtest.h>

#include <thread>

#include "device/device_fixture.h"
#include "device/memory/memory.h"
#include "device/queue/stream.h"

namespace npu::device {
namespace {

template <class F>
void in_fresh_thread(F&& f) {
  std::thread(std::forward<F>(f)).join();
}

TEST(Context, ThreadsStartWithoutADevice) {
  in_fresh_thread([] {
    EXPECT_ERROR(get_device(), Code::kRtContextNull, "call aclrtSetDevice");
    EXPECT_ERROR(current_context(), Code::kRtContextNull, "call aclrtSetDevice");
    EXPECT_ERROR(stream_from_handle(nullptr), Code::kRtContextNull, "no device is set");
    set_device(1);
    EXPECT_EQ(get_device(), 1);
    EXPECT_EQ(stream_from_handle(nullptr).device(), 1);
    EXPECT_ERROR(set_device(99), Code::kRtInvalidDevice, "device 99");
    EXPECT_EQ(get_device(), 1);
  });
  EXPECT_TRUE(primary_context_active(1));
}

TEST(Context, DefaultDeviceServesThreadsThatNeverSetOne) {
  set_device(0);
  set_default_device(2);
  in_fresh_thread([] {
    EXPECT_EQ(get_device(), 2);
    EXPECT_EQ(current_context().device, 2);
  });
  set_default_device(-1);
}

TEST(Context, ExplicitContextsHaveTheirOwnStream) {
  in_fresh_thread([] {
    set_device(3);
    void* primary = current_context().handle;
    void* made = create_context(4);
    EXPECT_EQ(get_device(), 4);
    Stream& stream = stream_from_handle(nullptr);
    void* handle = create_stream();
    EXPECT_EQ(stream_from_handle(handle).device(), 4);
    set_current_context(primary);
    EXPECT_EQ(get_device(), 3);
    EXPECT_NE(&stream, &stream_from_handle(nullptr));
    EXPECT_ERROR(destroy_context(primary), Code::kRtParamInvalid, "default context");
    destroy_context(made);
    EXPECT_ERROR(stream_from_handle(handle), Code::kRtInvalidHandle, "was destroyed");
    EXPECT_ERROR(set_current_context(made), Code::kRtInvalidHandle, "was destroyed");
    EXPECT_ERROR(destroy_context(made), Code::kRtInvalidHandle, "was destroyed");
  });
}

// Device 5 is used by this test alone: its counts must be known.
TEST(Context, LastResetReleasesTheDevice) {
  in_fresh_thread([] {
    set_device(5);
    set_device(5);
    void* stream = create_stream();
    void* block = allocate(5, 1000);
    reset_device(5);
    check_live(block, 1000, 5);
    in_fresh_thread([&] {
      set_device(5);
      reset_device(5);
    });
    reset_device(5);
    EXPECT_FALSE(primary_context_active(5));
    EXPECT_ERROR(check_live(block, 1000, 5), Code::kRtParamInvalid, "was freed");
    EXPECT_ERROR(stream_from_handle(stream), Code::kRtInvalidHandle, "was destroyed");
    EXPECT_ERROR(get_device(), Code::kRtContextNull, "no device is set");
    reset_device(5);  // one too many does nothing
    set_device(5);
    EXPECT_EQ(stream_from_handle(nullptr).device(), 5);
    EXPECT_EQ(memory_info(5).used, 0u);
    reset_device(5);
  });
}

TEST(Context, OtherThreadsLearnOfAReset) {
  in_fresh_thread([] {
    void* made = create_context(5);
    in_fresh_thread([&] { destroy_context(made); });
    EXPECT_ERROR(current_context(), Code::kRtContextNull, "was destroyed");
    EXPECT_ERROR(get_device(), Code::kRtContextNull, "was destroyed");
  });
}

}  // namespace
}  // namespace npu::device
