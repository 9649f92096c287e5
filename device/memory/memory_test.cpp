// SPDX-License-Identifier: Apache-2.0
#include "device/memory/memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/context/context.h"
#include "device/device_fixture.h"
#include "device/memory/capacity.h"
#include "device/memory/hold.h"
#include "device/memory/host.h"
#include "device/memory/virtual.h"
#include "device/queue/callback.h"
#include "device/queue/event.h"
#include "device/queue/stream.h"
#include "device/queue/stream_table.h"

namespace npu::device {
namespace {

std::byte* offset(void* ptr, size_t bytes) { return static_cast<std::byte*>(ptr) + bytes; }

TEST(Memory, BlocksAreAlignedAndDistinct) {
  void* a = allocate(0, 1);
  void* b = allocate(0, 0);
  EXPECT_NE(a, b);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % kMemoryAlignment, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % kMemoryAlignment, 0u);
  std::memset(resolve(a, 1), 1, 1);
  deallocate(a);
  deallocate(b);
}

TEST(Memory, FiguresFollowTheBlocks) {
  const MemoryInfo before = memory_info(1);
  void* block = allocate(1, 1 << 20);
  reset_high_water(1);
  EXPECT_EQ(memory_info(1).used, before.used + (1 << 20));
  deallocate(block);
  EXPECT_EQ(memory_info(1).used, before.used);
  EXPECT_EQ(memory_info(1).high_water, before.used + (1 << 20));
}

TEST(Memory, FindsTheBlockOfAnAddress) {
  void* block = allocate(2, 3000);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Block found = find_block(offset(block, 2999));
    EXPECT_EQ(found.begin, block);
    EXPECT_EQ(found.bytes, 3000u);
    EXPECT_EQ(found.device, 2);
  }
  deallocate(block);
  EXPECT_FALSE(find_block(block)) << "no thread may remember a freed block";
  int local = 0;
  EXPECT_FALSE(find_block(&local));
}

TEST(Memory, RefusalsTellWhatTheAddressIs) {
  void* block = allocate(0, 1000);
  check_live(block, 1000, 0);
  check_live(nullptr, 0);
  int local = 0;
  EXPECT_ERROR(check_live(&local, 4, 0, "self"), Code::kRtParamInvalid, "is not device memory (a host address?)");
  EXPECT_ERROR(check_live(nullptr, 4, 0, "self"), Code::kRtParamInvalid, "self is null");
  EXPECT_ERROR(check_live(block, 1012, 0, "out"), Code::kRtParamInvalid,
               "its block of 1000 bytes ends 12 bytes before");
  EXPECT_ERROR(check_live(offset(block, 990), 20, 0), Code::kRtParamInvalid, "ends 10 bytes before");
  EXPECT_ERROR(check_live(offset(block, 1005), 1, 0), Code::kRtParamInvalid, "ends 6 bytes before");
  EXPECT_ERROR(check_live(block, 4, 3, "src"), Code::kRtParamInvalid,
               "memory of device 0, but the stream is on device 3");
  void* pinned = malloc_host(10);
  EXPECT_ERROR(check_live(pinned, 4), Code::kRtParamInvalid, "page-locked host memory");
  free_host(pinned);
  deallocate(block);
  EXPECT_ERROR(check_live(block, 4, 0, "self"), Code::kRtParamInvalid, "was freed");
}

TEST(Memory, WrongFreesAreRefused) {
  void* block = allocate(0, 4096);
  int local = 0;
  EXPECT_ERROR(deallocate(offset(block, 512)), Code::kRtParamInvalid, "inside a block");
  EXPECT_ERROR(deallocate(&local), Code::kRtParamInvalid, "is not device memory");
  EXPECT_ERROR(deallocate(nullptr), Code::kRtParamInvalid, "null");
  deallocate(block);
  EXPECT_ERROR(deallocate(block), Code::kRtParamInvalid, "was freed before");
}

// Device 7 is kept for this test: the setting is read when a device is first used.
TEST(Memory, OutOfMemorySaysWhatToDo) {
  detail::memory_setting.override("256M");
  std::vector<void*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(allocate(7, size_t{60} << 20));
  detail::memory_setting.override("");
  EXPECT_EQ(memory_info(7).capacity, size_t{256} << 20);
  EXPECT_ERROR(allocate(7, size_t{60} << 20), Code::kMemoryAllocation, "60.0 MiB asked, 240.0 MiB of 256.0 MiB in use");
  EXPECT_ERROR(allocate(7, size_t{1} << 50), Code::kMemoryAllocation, "asked");
  deallocate(blocks[1]);
  deallocate(blocks[2]);
  void* joined = allocate(7, size_t{120} << 20);  // neighbours became one run again
  EXPECT_EQ(joined, blocks[1]);
  for (void* block : {blocks[0], joined, blocks[3]}) deallocate(block);
  EXPECT_EQ(memory_info(7).used, 0u);
}

TEST(Memory, FreedMemoryWaitsForQueuedWork) {
  set_device(6);
  void* handle = create_stream();
  Stream& stream = stream_from_handle(handle);
  std::atomic<bool> go{false};
  void* block = allocate(6, 5000);
  auto* bytes = static_cast<std::byte*>(resolve(block, 5000));
  stream.launch({"gate", 0, kTaskMayWait, [&] {
                   while (!go) std::this_thread::yield();
                   std::memset(bytes, 1, 5000);
                 }});
  deallocate(block);
  EXPECT_GE(memory_info(6).waiting, 5000u);
  void* other = allocate(6, 5000);
  EXPECT_NE(other, block) << "queued work may still write there";
  go = true;
  stream.synchronize();
  deallocate(other);
  void* again = allocate(6, 5000);
  EXPECT_EQ(again, block);
  EXPECT_EQ(memory_info(6).waiting, 0u);
  deallocate(again);
  destroy_stream(handle);
}

TEST(Memory, RandomBlocksNeverOverlap) {
  std::mt19937 random(7);
  std::vector<std::pair<unsigned char*, size_t>> blocks;
  const size_t used = memory_info(3).used;
  for (int step = 0; step < 4000; ++step) {
    if (blocks.size() < 50 || random() % 2) {
      const size_t size = random() % 20000 + 1;
      auto* block = static_cast<unsigned char*>(allocate(3, size));
      std::memset(resolve(block, size), static_cast<int>(blocks.size() & 255), size);
      blocks.emplace_back(block, size);
      static_cast<unsigned char*>(resolve(block, size))[0] = static_cast<unsigned char>(size);
    } else {
      const size_t at = random() % blocks.size();
      EXPECT_EQ(*static_cast<unsigned char*>(resolve(blocks[at].first, 1)),
                static_cast<unsigned char>(blocks[at].second));
      deallocate(blocks[at].first);
      blocks[at] = blocks.back();
      blocks.pop_back();
    }
  }
  for (const auto& [block, size] : blocks) deallocate(block);
  EXPECT_EQ(memory_info(3).used, used);
}

TEST(HostMemory, KnowsPinnedRanges) {
  auto* block = static_cast<char*>(malloc_host(10'000));
  block[9'999] = 1;
  EXPECT_TRUE(is_pinned(block, 10'000));
  EXPECT_FALSE(is_pinned(block, 10'001));
  char local[8];
  EXPECT_FALSE(is_pinned(local, 1));
  EXPECT_ERROR(free_host(block + 1), Code::kRtParamInvalid, "is not the start");
  free_host(block);
  EXPECT_ERROR(free_host(block), Code::kRtParamInvalid, "freed before");
}

TEST(HostMemory, MappedRangesAreHostMemoryThatKernelsReach) {
  char local[8];
  map_host(local, sizeof(local), 1);
  EXPECT_TRUE(is_pinned(local + 1, 7));
  EXPECT_FALSE(is_device_address(local));
  check_live(local + 1, 7, 1);
  EXPECT_ERROR(check_live(local + 1, 8, 1), Code::kRtParamInvalid, "address");
  EXPECT_ERROR(check_live(local, 8, 2), Code::kRtParamInvalid, "device");
  EXPECT_EQ(resolve(local, 8), local);
  EXPECT_ERROR(map_host(local + 4, 1, 1), Code::kRtParamInvalid, "overlaps");
  EXPECT_ERROR(unmap_host(local + 4), Code::kRtParamInvalid, "registered before");
  unmap_host(local);
  EXPECT_FALSE(is_pinned(local, 1));
  EXPECT_ERROR(check_live(local, 1, 1), Code::kRtParamInvalid, "host address");

  pin_host(local, sizeof(local));
  EXPECT_TRUE(is_pinned(local, 8));
  EXPECT_ERROR(check_live(local, 1, 1), Code::kRtParamInvalid, "page-locked host memory");
  EXPECT_ERROR(map_host(local, 8, 1), Code::kRtParamInvalid, "overlaps");
  unmap_host(local);
  EXPECT_FALSE(is_pinned(local, 1));

  auto* block = static_cast<char*>(malloc_host(100));
  EXPECT_ERROR(pin_host(block, 100), Code::kRtParamInvalid, "page-locked already");
  EXPECT_ERROR(map_host(block + 50, 100, 1), Code::kRtParamInvalid, "passes the end");
  map_host(block, 100, 1);
  EXPECT_ERROR(free_host(block), Code::kRtParamInvalid, "aclrtHostUnregister");
  unmap_host(block);
  EXPECT_TRUE(is_pinned(block, 100));
  free_host(block);
}

TEST(VirtualMemory, MapsHandlesIntoRanges) {
  const size_t used = memory_info(4).used;
  void* range = reserve_address(8 * kGranularity, 0, nullptr);
  void* first = create_physical(4, kGranularity);
  void* second = create_physical(4, 2 * kGranularity);
  EXPECT_EQ(memory_info(4).used, used + 3 * kGranularity);
  EXPECT_ERROR(check_live(range, 4), Code::kRtParamInvalid, "freed, or never allocated");
  map_memory(range, kGranularity, 0, first);
  check_live(range, kGranularity, 4);
  map_memory(offset(range, kGranularity), 2 * kGranularity, 0, second);
  check_live(offset(range, 100), 3 * kGranularity - 100, 4);
  EXPECT_ERROR(map_memory(offset(range, 2 * kGranularity), kGranularity, 0, first), Code::kRtParamInvalid,
               "mapped already");
  EXPECT_ERROR(map_memory(offset(range, 7 * kGranularity), 2 * kGranularity, 0, second), Code::kRtParamInvalid,
               "not inside one reserved range");
  EXPECT_ERROR(release_address(range), Code::kRtParamInvalid, "still has 2 mappings");
  std::memset(resolve(range, 1), 3, 3 * kGranularity);
  free_physical(first);  // the mapping keeps the memory
  EXPECT_EQ(static_cast<char*>(resolve(range, 1))[5], 3);
  EXPECT_ERROR(free_physical(first), Code::kRtInvalidHandle, "physical memory");
  unmap_memory(range);
  EXPECT_ERROR(check_live(range, 4), Code::kRtParamInvalid, "freed");
  EXPECT_ERROR(unmap_memory(range), Code::kRtParamInvalid, "not the start of a mapping");
  unmap_memory(offset(range, kGranularity));
  free_physical(second);
  release_address(range);
  EXPECT_EQ(memory_info(4).used, used);
  EXPECT_ERROR(create_physical(4, 100), Code::kRtParamInvalid, "multiple of");
}

TEST(VirtualMemory, AnotherHandleSeesTheSameBytes) {
  void* made = create_physical(0, kGranularity);
  void* imported = import_physical(export_physical(made), 0);
  void* range = reserve_address(2 * kGranularity, 0, nullptr);
  map_memory(range, kGranularity, 0, made);
  map_memory(offset(range, kGranularity), kGranularity, 0, imported);
  static_cast<char*>(resolve(range, 1))[42] = 9;
  EXPECT_EQ(static_cast<char*>(resolve(offset(range, kGranularity), 1))[42], 9);
  unmap_memory(range);
  unmap_memory(offset(range, kGranularity));
  free_physical(made);
  free_physical(imported);
  release_address(range);
  EXPECT_ERROR(import_physical(uint64_t{0x7fffffff} << 32, 0), Code::kRtParamInvalid, "names no physical memory");
}

// Guard mode is chosen when the first device is used, so its tests run in a process of their own.
bool guarded() { return std::getenv("ANYNPU_GUARD") != nullptr; }

TEST(GuardedMemory, KernelsSeeWhatHostsMayNotTouch) {
  if (!guarded()) GTEST_SKIP() << "runs inside GuardMode.RunsGuardedTests";
  auto* block = static_cast<char*>(allocate(0, 100));
  auto* kernel = static_cast<char*>(resolve(block, 100));
  EXPECT_NE(kernel, block);
  kernel[7] = 5;
  EXPECT_EQ(static_cast<char*>(resolve(block + 7, 1))[0], 5);
  check_live(block + 7, 93, 0);
  int local = 0;
  EXPECT_EQ(resolve(&local, 4), &local);
  const auto touch = [block] {
    std::signal(SIGSEGV, SIG_DFL);  // sanitizers have handlers of their own
    static_cast<void>(static_cast<volatile char*>(block)[0]);
  };
  EXPECT_EXIT(touch(), testing::KilledBySignal(SIGSEGV), "");
  deallocate(block);
}

TEST(GuardMode, RunsGuardedTests) {
  if (guarded()) GTEST_SKIP();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      "ANYNPU_GUARD=1 '" + self + "' --gtest_filter='GuardedMemory.*:VirtualMemory.*:Memory.Find*' > /dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

/// Memory of every kind that is freed within a callback, while a copy of it is still queued behind.
struct FreedInACallback {
  char* host = static_cast<char*>(malloc_host(1 << 20));
  std::vector<char> own = std::vector<char>(3 * 4096);
  void* range = reserve_address(kGranularity, 0, nullptr);
  void* physical = create_physical(0, kGranularity);
  std::atomic<int> freed{0};

  FreedInACallback() {
    map_memory(range, kGranularity, 0, physical);
    map_host(own.data(), own.size(), 0);
  }
  static void free_all(void* self) {
    auto& it = *static_cast<FreedInACallback*>(self);
    free_host(it.host);
    unmap_host(it.own.data());
    unmap_memory(it.range);
    free_physical(it.physical);
    release_address(it.range);
    it.freed = 1;
  }
};

TEST(Memory, FreeingWithinACallbackWaitsForNobodyAndCrashesNoWork) {
  set_device(0);
  void* handle = create_stream();
  Stream& stream = stream_from_handle(handle);
  FreedInACallback it;
  const char* mapped = static_cast<char*>(resolve(it.range, 1));  // as phase 1 of a call does
  int sum = -1;
  const auto start = std::chrono::steady_clock::now();
  launch_host_function(stream, FreedInACallback::free_all, &it);
  stream.launch({"late read", 0, kTaskKernel, [&] { sum = it.host[5] + *mapped; }});
  stream.synchronize();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(it.freed, 1);
  EXPECT_EQ(sum, 0);
  EXPECT_FALSE(is_pinned(it.host, 1));
  free_host(malloc_host(1));  // gives back what waited
  destroy_stream(handle);
}

TEST(Memory, AHoldOutlivesTheBlock) {
  const size_t before = memory_info(3).used;
  void* block = allocate(3, 1000);
  const void* pinned = nullptr;
  {
    Hold hold(offset(block, 500)), same(block);
    EXPECT_TRUE(hold);
    EXPECT_FALSE(hold.freed());
    void* host = malloc_host(100);
    const Hold host_hold(host);
    pinned = host;
    deallocate(block);
    free_host(host);
    EXPECT_TRUE(hold.freed());
    EXPECT_TRUE(host_hold.freed());
    EXPECT_FALSE(find_block(block));
    EXPECT_ERROR(deallocate(block), Code::kRtParamInvalid, "freed before");
    EXPECT_GT(memory_info(3).used, before);
    void* next = allocate(3, 1000);
    EXPECT_NE(next, block) << "its address is not handed out";
    deallocate(next);
    const Hold moved(std::move(hold));
    EXPECT_TRUE(moved);
    *static_cast<char*>(host) = 1;  // still there
  }
  EXPECT_EQ(memory_info(3).used, before);
  EXPECT_FALSE(is_pinned(pinned, 1));
  int local = 0;
  EXPECT_FALSE(Hold(&local));
  EXPECT_FALSE(Hold(nullptr));
  EXPECT_FALSE(Hold(block));
}

}  // namespace
}  // namespace npu::device
