// SPDX-License-Identifier: Apache-2.0
#include "device/process/handle.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "device/device_fixture.h"

namespace npu::device {
namespace {

using Table = HandleTable<int, HandleKind::kEvent>;
auto nothing = [](int&, void*) {};

TEST(Handle, FindsLiveObjectsOnly) {
  Table table;
  void* handle = table.create([](int& value, void*) { value = 5; });
  EXPECT_EQ(table.get(handle), 5);
  EXPECT_NE(table.retire(handle), nullptr);
  table.recycle(handle);
  EXPECT_EQ(table.find(handle), nullptr);
  EXPECT_EQ(table.retire(handle), nullptr);
  EXPECT_ERROR(table.get(handle), Code::kRtInvalidHandle, "was destroyed");
}

TEST(Handle, RefusesGarbage) {
  Table table;
  table.create(nothing);
  int local = 0;
  EXPECT_ERROR(table.get(nullptr), Code::kRtInvalidHandle, "handle of an event is null");
  EXPECT_ERROR(table.get(&local), Code::kRtInvalidHandle, "is not the handle of an event");
  EXPECT_ERROR(table.get(reinterpret_cast<void*>(~uint64_t{0})), Code::kRtInvalidHandle, "is not");
  HandleTable<int, HandleKind::kStream> streams;
  EXPECT_ERROR(table.get(streams.create(nothing)), Code::kRtInvalidHandle,
               "is the handle of a stream; that of an event");
}

TEST(Handle, RecycledSlotsGetNewHandles) {
  Table table;
  std::set<void*> seen;
  for (int i = 0; i < 2000; ++i) {
    void* handle = table.create(nothing);
    EXPECT_TRUE(seen.insert(handle).second);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(handle) % 64, 0u);
    table.retire(handle);
    table.recycle(handle);
  }
  int live = 0;
  table.for_each([&](void*, int&) { ++live; });
  EXPECT_EQ(live, 0);
}

}  // namespace
}  // namespace npu::device
