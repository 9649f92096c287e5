// SPDX-License-Identifier: Apache-2.0
#include "acl/runtime/memory/copy.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include "acl/runtime/runtime_fixture.h"
#include "device/context/context.h"
#include "device/queue/stream.h"

namespace npu::acl {
namespace {

using CopyTest = OnDevice;

/// Holds a stream back until opened.
struct Gate {
  std::atomic<bool> open{false};
  static void wait(void* gate) {
    while (!static_cast<Gate*>(gate)->open) std::this_thread::yield();
  }
};

TEST_F(CopyTest, RoundTripWithTheTrueKindAndWithDefault) {
  const std::vector<uint8_t> values{1, 2, 3, 4, 5};
  Memory a(5), b(5);
  for (const aclrtMemcpyKind kind : {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEFAULT, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE}) {
    EXPECT_OK(aclrtMemset(a.get(), 5, 0, 5));
    EXPECT_OK(aclrtMemcpy(a.get(), 5, values.data(), 5, kind));
    EXPECT_EQ(a.read(), values);
  }
  EXPECT_OK(aclrtMemcpy(b.get(), 5, a.get(), 5, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(b.read(), values);
  std::vector<uint8_t> host(5);
  EXPECT_OK(aclrtMemcpy(host.data(), 5, values.data(), 5, ACL_MEMCPY_HOST_TO_HOST));
  EXPECT_EQ(host, values);
  EXPECT_OK(aclrtMemcpy(host.data(), 5, values.data(), 0, ACL_MEMCPY_HOST_TO_HOST));
}

TEST_F(CopyTest, OverlappingRangesKeepTheSource) {
  Memory a(6);
  const uint8_t values[] = {1, 2, 3, 4, 5, 6};
  EXPECT_OK(aclrtMemcpy(a.get(), 6, values, 6, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_OK(aclrtMemcpyAsync(a.at(2), 4, a.get(), 4, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  EXPECT_EQ(a.read(), (std::vector<uint8_t>{1, 2, 1, 2, 3, 4}));
}

TEST_F(CopyTest, LargeCopiesAreWhole) {
  std::vector<uint8_t> values((5 << 20) + 7);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * 31 + (i >> 9));
  Memory a(values.size());
  EXPECT_OK(aclrtMemcpy(a.get(), values.size(), values.data(), values.size(), ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_EQ(a.read(), values);
  // Where source and target overlap nothing is written before it was read.
  const size_t moved = values.size() - 1000;
  EXPECT_OK(aclrtMemcpyAsync(a.at(1000), moved, a.get(), moved, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  std::copy_backward(values.begin(), values.end() - 1000, values.end());
  EXPECT_EQ(a.read(), values);
}

TEST_F(CopyTest, PageableSourceIsReadBeforeTheCallReturns) {
  OwnStream stream;
  Memory a(4);
  Gate gate;
  EXPECT_OK(aclrtLaunchHostFunc(stream, &Gate::wait, &gate));
  uint8_t host[] = {9, 9, 9, 9};
  EXPECT_OK(aclrtMemcpyAsync(a.get(), 4, host, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  std::memset(host, 0, 4);  // the stream has not moved yet
  gate.open = true;
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(a.read(), (std::vector<uint8_t>{9, 9, 9, 9}));
}

TEST_F(CopyTest, LargePageableSourceMakesTheCallWait) {
  OwnStream stream;
  constexpr size_t kBytes = 1 << 20;
  Memory a(kBytes);
  std::vector<uint8_t> host(kBytes, 7);
  EXPECT_OK(aclrtMemcpyAsync(a.get(), kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  std::fill(host.begin(), host.end(), 0);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(a.read(), std::vector<uint8_t>(kBytes, 7));
}

TEST_F(CopyTest, PinnedCopiesReturnAtOnceAndKeepStreamOrder) {
  OwnStream stream;
  Memory a(4);
  void* pinned = nullptr;
  ASSERT_OK(aclrtMallocHost(&pinned, 4));
  std::memset(pinned, 0, 4);
  Gate gate;
  EXPECT_OK(aclrtLaunchHostFunc(stream, &Gate::wait, &gate));
  EXPECT_OK(aclrtMemsetAsync(a.get(), 4, 0x105, 4, stream));  // the low byte counts
  EXPECT_OK(aclrtMemcpyAsync(pinned, 4, a.get(), 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_EQ(static_cast<uint8_t*>(pinned)[0], 0);  // nobody waited for the gate
  gate.open = true;
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(static_cast<uint8_t*>(pinned)[3], 5);
  EXPECT_OK(aclrtFreeHost(pinned));
}

// What the vendor's copy samples do with both sides of a copy.
TEST_F(CopyTest, PageLockedHostMemoryIsFilledLikeDeviceMemory) {
  OwnStream stream;
  void* memory = nullptr;
  ASSERT_OK(aclrtMallocHost(&memory, 4));
  const auto* pinned = static_cast<const uint8_t*>(memory);
  EXPECT_OK(aclrtMemset(memory, 4, 3, 4));
  EXPECT_EQ(std::vector<uint8_t>(pinned, pinned + 4), (std::vector<uint8_t>{3, 3, 3, 3}));
  Gate gate;
  EXPECT_OK(aclrtLaunchHostFunc(stream, &Gate::wait, &gate));
  EXPECT_OK(aclrtMemsetAsync(static_cast<uint8_t*>(memory) + 1, 3, 0x109, 2, stream));
  EXPECT_EQ(pinned[1], 3);  // in its place on the stream
  gate.open = true;
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(std::vector<uint8_t>(pinned, pinned + 4), (std::vector<uint8_t>{3, 9, 9, 3}));
  EXPECT_OK(aclrtFreeHost(memory));
}

TEST_F(CopyTest, PageableTargetIsWrittenOnReturn) {
  OwnStream stream;
  Memory a(3);
  EXPECT_OK(aclrtMemsetAsync(a.get(), 3, 8, 3, stream));
  uint8_t host[3] = {};
  EXPECT_OK(aclrtMemcpyAsync(host, 3, a.get(), 3, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_EQ(host[2], 8);
}

TEST_F(CopyTest, SynchronousCopyComesAfterTheDefaultStream) {
  Memory a(1 << 20);
  for (int i = 0; i < 20; ++i) EXPECT_OK(aclrtMemsetAsync(a.get(), a.bytes(), i, a.bytes(), nullptr));
  EXPECT_EQ(a.read().back(), 19);
}

// A stream with a task that has failed, and memory nobody may see until that was told.
TEST_F(CopyTest, NothingLeavesAFailedStream) {
  aclrtStream stream = nullptr;
  ASSERT_OK(aclrtCreateStream(&stream));
  ASSERT_OK(aclrtSetDevice(1));
  Memory elsewhere(2);
  EXPECT_OK(aclrtMemset(elsewhere.get(), 2, 0, 2));
  ASSERT_OK(aclrtSetDevice(0));
  Memory a(2);
  EXPECT_OK(aclrtMemset(a.get(), 2, 3, 2));
  void* pinned = nullptr;
  ASSERT_OK(aclrtMallocHost(&pinned, 2));
  std::memset(pinned, 0, 2);
  uint8_t pageable[2] = {};
  bool called = false;

  device::stream_from_handle(stream).launch(
      {"aclnnMm", 0, device::kTaskKernel, [] { fail(Code::kNnRuntime, "broken"); }});
  EXPECT_OK(aclrtMemcpyAsync(pinned, 2, a.get(), 2, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_OK(aclrtMemcpyAsync(elsewhere.get(), 2, a.get(), 2, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  EXPECT_EQ(aclrtLaunchHostFunc(stream, [](void* flag) { *static_cast<bool*>(flag) = true; }, &called), 361001);
  EXPECT_EQ(aclrtMemcpy(pageable, 2, a.get(), 2, ACL_MEMCPY_DEVICE_TO_HOST), 361001);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("broken"), std::string::npos);
  EXPECT_EQ(aclrtMemcpy(elsewhere.get(), 2, a.get(), 2, ACL_MEMCPY_DEVICE_TO_DEVICE), 361001);
  char key[65];
  EXPECT_EQ(aclrtIpcMemGetExportKey(a.get(), 2, key, sizeof(key), 0), 361001);
  EXPECT_EQ(aclrtMemcpyAsync(pageable, 2, a.get(), 2, ACL_MEMCPY_DEVICE_TO_HOST, stream), 361001);
  EXPECT_EQ(pageable[0], 0);
  EXPECT_EQ(static_cast<uint8_t*>(pinned)[0], 0);
  EXPECT_EQ(elsewhere.read()[0], 0);
  EXPECT_FALSE(called);

  // The copy of pageable memory has synchronised the stream and told the error: all goes on.
  EXPECT_OK(aclrtMemcpyAsync(pinned, 2, a.get(), 2, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(static_cast<uint8_t*>(pinned)[1], 3);
  EXPECT_EQ(a.read()[1], 3);
  EXPECT_OK(aclrtFreeHost(pinned));
  EXPECT_OK(aclrtDestroyStream(stream));
}

TEST_F(CopyTest, BetweenDevices) {
  Memory a(2);
  EXPECT_OK(aclrtMemset(a.get(), 2, 3, 2));
  ASSERT_OK(aclrtSetDevice(1));
  {
    Memory b(2);
    EXPECT_OK(aclrtMemcpy(b.get(), 2, a.get(), 2, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE));
    EXPECT_EQ(b.read(), (std::vector<uint8_t>{3, 3}));
  }
  EXPECT_OK(aclrtResetDevice(1));
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(CopyTest, MatricesAreCopiedRowByRow) {
  std::vector<uint8_t> host(5 * 8);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<uint8_t>(i);
  Memory device(4 * 6);
  OwnStream stream;
  for (const bool queued : {false, true}) {
    EXPECT_OK(aclrtMemset(device.get(), 24, 99, 24));
    EXPECT_OK(queued ? aclrtMemcpy2dAsync(device.get(), 6, host.data(), 8, 3, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream)
                     : aclrtMemcpy2d(device.get(), 6, host.data(), 8, 3, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_OK(aclrtSynchronizeStream(stream));
    const auto there = device.read();
    std::vector<uint8_t> back(4 * 5, 7);
    EXPECT_OK(queued ? aclrtMemcpy2dAsync(back.data(), 5, device.get(), 6, 3, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream)
                     : aclrtMemcpy2d(back.data(), 5, device.get(), 6, 3, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t row = 0; row < 4; ++row) {
      for (size_t k = 0; k < 6; ++k) EXPECT_EQ(there[row * 6 + k], k < 3 ? row * 8 + k : 99);
      for (size_t k = 0; k < 5; ++k) EXPECT_EQ(back[row * 5 + k], k < 3 ? row * 8 + k : 7);
    }
  }
}

TEST_F(CopyTest, WrongMatricesAreRefused) {
  const auto text = [] { return std::string(aclGetRecentErrMsg()); };
  std::vector<uint8_t> host(64);
  Memory device(23);
  const auto copy = [&](size_t dpitch, size_t spitch, size_t width, size_t height, aclrtMemcpyKind kind) {
    return aclrtMemcpy2d(device.get(), dpitch, host.data(), spitch, width, height, kind);
  };
  EXPECT_EQ(copy(2, 8, 3, 4, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  EXPECT_NE(text().find("width is 3 bytes, dpitch 2 and spitch 8"), std::string::npos);
  EXPECT_EQ(copy(8, 8, 3, 4, ACL_MEMCPY_DEVICE_TO_DEVICE), 107000);
  EXPECT_EQ(copy(7, 8, 3, 4, ACL_MEMCPY_HOST_TO_DEVICE), 107000) << "the last row ends a byte behind the memory";
  EXPECT_NE(text().find("dst"), std::string::npos);
  EXPECT_EQ(copy(1, 1, 1, size_t{6} << 20, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  EXPECT_EQ(copy(SIZE_MAX, 8, 1, 4, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  EXPECT_EQ(aclrtMemcpy2d(nullptr, 8, host.data(), 8, 1, 1, ACL_MEMCPY_HOST_TO_DEVICE), 100000);
  EXPECT_OK(copy(8, 8, 3, 0, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_OK(copy(6, 8, 5, 4, ACL_MEMCPY_HOST_TO_DEVICE));
}

TEST_F(CopyTest, ABatchNamesTheCopyThatIsRefused) {
  std::vector<uint8_t> in{1, 2, 3, 4}, out(4);
  Memory a(4), b(4);
  void* to[] = {a.get(), b.get(), out.data()};
  void* from[] = {in.data(), a.get(), b.get()};
  size_t room[] = {4, 4, 4}, sizes[] = {4, 4, 4}, starts[] = {0, 1, 2};
  const aclrtMemLocation host{0, ACL_MEM_LOCATION_TYPE_HOST}, device{0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtMemcpyBatchAttr attrs[] = {{device, host, {}}, {device, device, {}}, {host, device, {}}};
  size_t failed = 7;
  OwnStream stream;
  EXPECT_OK(aclrtMemcpyBatch(to, room, from, sizes, 3, attrs, starts, 3, &failed));
  EXPECT_EQ(failed, SIZE_MAX);
  EXPECT_EQ(out, in);
  out.assign(4, 0);
  EXPECT_OK(aclrtMemcpyBatchAsync(to, room, from, sizes, 3, attrs, starts, 3, &failed, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(out, in);
  room[1] = 3;
  EXPECT_EQ(aclrtMemcpyBatch(to, room, from, sizes, 3, attrs, starts, 3, &failed), 107000);
  EXPECT_EQ(failed, 1u);
  starts[1] = 2;
  EXPECT_EQ(aclrtMemcpyBatch(to, room, from, sizes, 3, attrs, starts, 3, &failed), 107000);
  EXPECT_EQ(failed, SIZE_MAX);
  EXPECT_EQ(aclrtMemcpyBatch(to, room, from, sizes, 3, attrs, starts, 4, &failed), 107000);
  EXPECT_EQ(aclrtMemcpyBatch(to, room, from, sizes, 0, attrs, starts, 0, &failed), 107000);
  EXPECT_EQ(aclrtMemcpyBatch(to, room, from, sizes, 3, nullptr, starts, 3, &failed), 100000);
  EXPECT_EQ(aclrtMemcpyBatch(to, room, from, sizes, 3, attrs, starts, 3, nullptr), 100000);
}

TEST_F(CopyTest, HostMemoryIsFreedInACallbackThatItsCopyPrecedes) {
  static void* host;
  static std::atomic<int> code;
  code = -1;
  ASSERT_OK(aclrtMallocHost(&host, 4096));
  Memory device(4096);
  OwnStream stream;
  std::atomic<bool> stop{false};
  aclrtContext context = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&context));
  std::thread reporter([&] {
    aclrtSetCurrentContext(context);
    while (!stop) aclrtProcessReport(20);
  });
  EXPECT_OK(aclrtSubscribeReport(reporter.native_handle(), stream));
  EXPECT_OK(aclrtMemcpyAsync(host, 4096, device.get(), 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_OK(aclrtLaunchCallback([](void*) { code = aclrtFreeHost(host); }, nullptr, ACL_CALLBACK_BLOCK, stream));
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 20'000));
  EXPECT_EQ(code, 0);
  EXPECT_OK(aclrtUnSubscribeReport(reporter.native_handle(), stream));
  stop = true;
  reporter.join();
}

}  // namespace
}  // namespace npu::acl
