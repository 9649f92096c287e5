// SPDX-License-Identifier: Apache-2.0
#include "device/memory/share.h"

#include <sys/mman.h>

#include <cstring>

#include "device/device_fixture.h"
#include "device/memory/memory.h"
#include "device/memory/virtual.h"

namespace npu::device {
namespace {

TEST(Share, AnotherMappingOfTheSegmentShowsTheSameBytes) {
  void* block = allocate(0, 4096);
  std::memset(resolve(block, 4096), 7, 4096);
  const SharedRange name = share(block, 4096);
  ASSERT_TRUE(name);
  const Segment segment = find_segment(name.segment);
  ASSERT_GE(segment.fd, 0);
  EXPECT_EQ(segment.base + name.offset, resolve(block, 4096));
  void* again = mmap(nullptr, segment.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, segment.fd, 0);
  ASSERT_NE(again, MAP_FAILED);
  EXPECT_EQ(std::memcmp(static_cast<std::byte*>(again) + name.offset, resolve(block, 4096), 4096), 0);
  static_cast<char*>(again)[name.offset + 5] = 9;
  EXPECT_EQ(static_cast<char*>(resolve(block, 4096))[5], 9);
  munmap(again, segment.bytes);
  deallocate(block);
}

TEST(Share, DevicesHaveSegmentsOfTheirOwn) {
  void* first = allocate(0, 64);
  void* second = allocate(1, 64);
  EXPECT_NE(share(first, 64).segment, share(second, 64).segment);
  deallocate(first);
  deallocate(second);
}

TEST(Share, WhatIsNoArenaHasNoName) {
  int host = 0;
  EXPECT_FALSE(share(&host, sizeof(host)));
  void* range = reserve_address(kGranularity, 0, nullptr);
  void* physical = create_physical(0, kGranularity);
  map_memory(range, kGranularity, 0, physical);
  EXPECT_FALSE(share(range, kGranularity));
  unmap_memory(range);
  release_address(range);
  free_physical(physical);
  EXPECT_LT(find_segment(0).fd, 0);
  EXPECT_LT(find_segment(999).fd, 0);
}

}  // namespace
}  // namespace npu::device
