// SPDX-License-Identifier: Apache-2.0
#include "device/process/init.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "device/context/context.h"
#include "device/device_fixture.h"
#include "device/memory/host.h"
#include "device/memory/memory.h"
#include "device/memory/virtual.h"
#include "device/queue/callback.h"
#include "device/queue/event.h"
#include "device/queue/stream.h"
#include "device/queue/stream_table.h"

namespace npu::device {
namespace {

TEST(Init, CallsAreCountedAndReleasesGoOn) {
  EXPECT_ERROR(finalize(), Code::kUninitialized, "without aclInit");
  initialize();
  EXPECT_ERROR(initialize(), Code::kRepeatInitialize, "called before");
  set_device(0);
  void* stream = create_stream();
  void* event = create_event(0);
  void* block = allocate(0, 100);
  finalize();
  EXPECT_ERROR(finalize(), Code::kRepeatFinalize, "called before");
  EXPECT_ERROR(set_device(0), Code::kUninitialized, "aclFinalize was called");
  EXPECT_ERROR(allocate(0, 1), Code::kUninitialized, "aclFinalize was called");
  EXPECT_ERROR(create_event(0), Code::kUninitialized, "aclFinalize was called");
  EXPECT_ERROR(create_stream(), Code::kUninitialized, "aclFinalize was called");
  stream_from_handle(stream).synchronize();
  synchronize_device();
  destroy_event(event);
  destroy_stream(stream);
  deallocate(block);
  initialize();
  set_device(0);
  EXPECT_TRUE(initialized());
}

// What a child sees of one call: 0 = refused as it should be.
template <class F>
int outcome(F&& call) {
  const Raised result = raised(call);
  return result.code == Code::kUninitialized && result.text.find("forked") != std::string::npos ? 0 : 1;
}

TEST(Init, AForkedChildIsRefusedEverywhere) {
  set_device(0);
  void* handle = create_stream();
  void* event = create_event(0);
  void* block = allocate(0, 100);
  Stream& stream = stream_from_handle(handle);
  const pid_t child = fork();
  if (child == 0) {
    int wrong = 0;
    wrong += outcome([] { initialize(); });
    wrong += outcome([] { finalize(); });
    wrong += outcome([] { set_device(0); });
    wrong += outcome([] { reset_device(0); });
    wrong += outcome([] { get_device(); });
    wrong += outcome([] { create_context(0); });
    wrong += outcome([] { create_stream(); });
    wrong += outcome([&] { destroy_stream(handle); });
    wrong += outcome([&] { stream_from_handle(handle); });
    wrong += outcome([&] { stream_from_handle(nullptr); });
    wrong += outcome([] { synchronize_device(); });
    wrong += outcome([] { create_event(0); });
    wrong += outcome([&] { record_event(event, stream); });
    wrong += outcome([&] { synchronize_event(event); });
    wrong += outcome([] { allocate(0, 1); });
    wrong += outcome([&] { deallocate(block); });
    wrong += outcome([] { memory_info(0); });
    wrong += outcome([] { malloc_host(1); });
    wrong += outcome([] { reserve_address(1, 0, nullptr); });
    wrong += outcome([] { process_report(1); });
    _exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  deallocate(block);
  destroy_event(event);
  destroy_stream(handle);
}

// The exit hook must end a process that forgot everything, also with work under way.
TEST(Init, AForgetfulProcessEndsCleanly) {
  if (getenv("ANYNPU_TEST_FORGET") != nullptr) {
    static int counted = 0;
    // Before the first use of a device, so that it runs after the room's own hook.
    std::atexit([] { _exit(counted == 100 ? 0 : 3); });
    set_device(0);
    allocate(0, 100);
    Stream& stream = stream_from_handle(create_stream());
    for (int i = 0; i < 100; ++i) {
      stream.launch({"work", kInlineBound + 1, kTaskKernel, [] {
                       usleep(1000);
                       ++counted;
                     }});
    }
    return;
  }
  char self[4096] = {};
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
  const std::string command =
      std::string("ANYNPU_TEST_FORGET=1 '") + self + "' --gtest_filter=Init.AForget* > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace npu::device
