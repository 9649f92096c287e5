// SPDX-License-Identifier: Apache-2.0
#include "device/process/status_page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "device/context/context.h"
#include "device/device_fixture.h"
#include "device/memory/memory.h"

namespace npu::device {
namespace {

std::optional<ProcessStatus> page_of(pid_t pid) {
  for (ProcessStatus& status : read_status_pages()) {
    if (status.pid == pid) return std::move(status);
  }
  return std::nullopt;
}

TEST(StatusPage, ShowsWhatTheProcessDoes) {
  const DefaultLaunches defaults;
  set_device(0);
  void* block = allocate(0, 1 << 20);
  Stream& stream = stream_from_handle(nullptr);
  stream.launch({"work", 50'000, kTaskKernel, [] { usleep(2000); }});
  stream.synchronize();
  const std::optional<ProcessStatus> page = page_of(getpid());
  ASSERT_TRUE(page);
  EXPECT_EQ(page->soc, "Ascend910B1");
  ASSERT_FALSE(page->devices.empty());
  const DeviceStatus& device = page->devices.front();
  EXPECT_EQ(device.device, 0);
  EXPECT_EQ(device.capacity, memory_info(0).capacity);
  EXPECT_GE(device.used, 1u << 20);
  EXPECT_GE(device.high_water, device.used);
  EXPECT_GE(device.tasks, 1u);
  EXPECT_GE(device.busy_ns, 1'000'000u);
  deallocate(block);
}

/// Runs one test of this program in a process of its own, which ends; its number.
pid_t ended_child(const char* test) {
  char self[4096] = {};
  EXPECT_GT(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
  const pid_t child = fork();
  if (child == 0) {
    setenv("ANYNPU_TEST_DIES", "1", 1);
    execl(self, self, (std::string("--gtest_filter=") + test).c_str(), "--gtest_brief=1", nullptr);
    _exit(127);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  return child;
}

TEST(StatusPage, GoesWithItsProcess) {
  for (const char* test : {"StatusPage.ShowsWhatTheProcessDoes", "StatusPage.Dies"})
    EXPECT_FALSE(page_of(ended_child(test)));
}

// Not only readers remove what dead processes leave: the folder must not fill up where nobody looks.
TEST(StatusPage, OneThatStartsRemovesThoseOfTheDead) {
  const std::string left = fmt::format("{}/{}.page", runtime_folder(), ended_child("StatusPage.Dies"));
  ASSERT_EQ(access(left.c_str(), F_OK), 0);
  ended_child("StatusPage.ShowsWhatTheProcessDoes");
  EXPECT_NE(access(left.c_str(), F_OK), 0);
}

// A process that ends without its exit hook leaves a page that readers drop.
TEST(StatusPage, Dies) {
  if (getenv("ANYNPU_TEST_DIES") == nullptr) GTEST_SKIP() << "runs inside StatusPage.GoesWithItsProcess";
  set_device(0);
  ASSERT_TRUE(page_of(getpid()));
  _exit(0);
}

}  // namespace
}  // namespace npu::device
