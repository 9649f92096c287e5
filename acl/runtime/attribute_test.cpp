// SPDX-License-Identifier: Apache-2.0
// Attributes and limits of streams and devices, and registered host memory.
#include <sys/mman.h>

#include <atomic>
#include <thread>

#include "acl/runtime/runtime_fixture.h"
#include "aclnnop/aclnn_inplace_fill_scalar.h"

namespace npu::acl {
namespace {

using AttributeTest = OnDevice;

void expect_text(const char* words) {
  const std::string text = aclGetRecentErrMsg();
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST_F(AttributeTest, AStreamsAttributesAreThoseOfTheirOwnFunctions) {
  OwnStream stream;
  aclrtStreamAttrValue value{}, out{};
  uint32_t on = 0;
  value.overflowSwitch = 1;
  EXPECT_OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value));
  EXPECT_OK(aclrtGetStreamOverflowSwitch(stream, &on));
  EXPECT_EQ(on, 1u);
  EXPECT_OK(aclrtSetStreamOverflowSwitch(stream, 0));
  EXPECT_OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &out));
  EXPECT_EQ(out.overflowSwitch, 0u);
  value.failureMode = ACL_STOP_ON_FAILURE;
  EXPECT_OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
  EXPECT_OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &out));
  EXPECT_EQ(out.failureMode, uint64_t{ACL_STOP_ON_FAILURE});
}

TEST_F(AttributeTest, WhatNothingActsOnIsKeptPerStream) {
  OwnStream one, other;
  aclrtStreamAttrValue value{}, out{};
  value.cacheOpInfoSwitch = 1;
  EXPECT_OK(aclrtSetStreamAttribute(one, ACL_STREAM_ATTR_CACHE_OP_INFO, &value));
  EXPECT_OK(aclrtGetStreamAttribute(one, ACL_STREAM_ATTR_CACHE_OP_INFO, &out));
  EXPECT_EQ(out.cacheOpInfoSwitch, 1u);
  EXPECT_OK(aclrtGetStreamAttribute(other, ACL_STREAM_ATTR_CACHE_OP_INFO, &out));
  EXPECT_EQ(out.cacheOpInfoSwitch, 0u);
  value.userCustomTag = 77;
  testing::internal::CaptureStderr();
  EXPECT_OK(aclrtSetStreamAttribute(one, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
  EXPECT_OK(aclrtSetStreamAttribute(other, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(told.find("[WARNING] anynpu: ACL_STREAM_ATTR_USER_CUSTOM_TAG changes nothing"), 0u) << told;
  EXPECT_EQ(told.find('\n'), told.size() - 1) << told;  // once
  EXPECT_OK(aclrtGetStreamAttribute(one, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &out));
  EXPECT_EQ(out.userCustomTag, 77u);
}

TEST_F(AttributeTest, WrongAttributesAreRefused) {
  OwnStream stream;
  aclrtStreamAttrValue value{};
  value.failureMode = 2;
  EXPECT_EQ(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value), 107000);
  expect_text("value->failureMode is 2");
  EXPECT_EQ(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, &value), 107000);
  expect_text("value->cacheOpInfoSwitch is 2");
  EXPECT_EQ(aclrtSetStreamAttribute(stream, static_cast<aclrtStreamAttr>(9), &value), 107000);
  expect_text("stmAttrType is 9");
  EXPECT_EQ(aclrtGetStreamAttribute(stream, static_cast<aclrtStreamAttr>(0), &value), 107000);
  EXPECT_EQ(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, nullptr), 100000);
  EXPECT_EQ(aclrtSetStreamAttribute(&value, ACL_STREAM_ATTR_FAILURE_MODE, &value), 107017);
}

/// The limit that a thread which used no stream's has.
uint32_t limit_here(aclrtDevResLimitType type) {
  uint32_t value = 0;
  EXPECT_OK(aclrtGetResInCurrentThread(type, &value));
  return value;
}
uint32_t limit_of(aclrtStream stream, aclrtDevResLimitType type) {
  uint32_t value = 0;
  EXPECT_OK(aclrtGetStreamResLimit(stream, type, &value));
  return value;
}

TEST_F(AttributeTest, LimitsOfAStreamComeBeforeItsDevicesAndThoseBeforeTheHardwares) {
  constexpr auto kCube = ACL_RT_DEV_RES_CUBE_CORE;
  constexpr auto kVector = ACL_RT_DEV_RES_VECTOR_CORE;
  OwnStream stream, other;
  int64_t all = 0;
  uint32_t value = 0;
  EXPECT_OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &all));
  EXPECT_OK(aclrtGetDeviceResLimit(0, kCube, &value));
  EXPECT_EQ(value, all);
  testing::internal::CaptureStderr();
  EXPECT_OK(aclrtSetDeviceResLimit(0, kCube, 5));
  EXPECT_OK(aclrtSetStreamResLimit(stream, kCube, 3));
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("ANYNPU_THREADS"), std::string::npos) << told;
  EXPECT_EQ(told.find('\n'), told.size() - 1) << told;  // once
  EXPECT_OK(aclrtGetDeviceResLimit(0, kCube, &value));
  EXPECT_EQ(value, 5u);
  EXPECT_EQ(limit_of(stream, kCube), 3u);
  EXPECT_EQ(limit_of(other, kCube), 5u);
  EXPECT_GT(limit_of(stream, kVector), 5u);
  EXPECT_EQ(limit_here(kCube), 5u);
  EXPECT_OK(aclrtUseStreamResInCurrentThread(stream));
  EXPECT_EQ(limit_here(kCube), 3u);
  std::thread([&] {
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_EQ(limit_here(kCube), 5u);
  }).join();
  EXPECT_OK(aclrtUnuseStreamResInCurrentThread(other));
  EXPECT_EQ(limit_here(kCube), 3u);
  EXPECT_OK(aclrtUnuseStreamResInCurrentThread(stream));
  EXPECT_EQ(limit_here(kCube), 5u);
  EXPECT_OK(aclrtResetStreamResLimit(stream));
  EXPECT_EQ(limit_of(stream, kCube), 5u);
  EXPECT_OK(aclrtResetDeviceResLimit(0));
  EXPECT_EQ(limit_of(stream, kCube), all);
  EXPECT_EQ(aclrtSetDeviceResLimit(0, kCube, 0), 107000);
  EXPECT_EQ(aclrtSetDeviceResLimit(0, kCube, static_cast<uint32_t>(all) + 1), 107000);
  expect_text("a limit is 1 to");
  EXPECT_EQ(aclrtSetDeviceResLimit(99, kCube, 1), 107001);
  EXPECT_EQ(aclrtSetStreamResLimit(stream, static_cast<aclrtDevResLimitType>(7), 1), 107000);
  expect_text("type is 7");
}

TEST_F(AttributeTest, ABusyDeviceIsBusy) {
  ASSERT_OK(aclrtSetDevice(5));
  OwnStream stream;
  aclrtUtilizationInfo info{};
  EXPECT_OK(aclrtGetDeviceUtilizationRate(5, &info));
  // Work for longer than the window, whenever that begins, in tasks much shorter than it: time counts at a task's end.
  Memory memory(8 << 20);
  std::atomic<bool> stop{false};
  std::jthread worker([&] {
    EXPECT_OK(aclrtSetDevice(5));
    while (!stop) {
      for (int i = 0; i < 4; ++i) EXPECT_OK(aclrtMemsetAsync(memory.get(), memory.bytes(), i, memory.bytes(), stream));
      EXPECT_OK(aclrtSynchronizeStream(stream));
    }
  });
  // A busy machine may let the worker rest during a whole window.
  for (int i = 0; i < 100 && info.cubeUtilization < 20; ++i) EXPECT_OK(aclrtGetDeviceUtilizationRate(5, &info));
  stop = true;
  worker.join();
  EXPECT_GE(info.cubeUtilization, 20);
  EXPECT_LE(info.cubeUtilization, 100);
  EXPECT_EQ(info.vectorUtilization, info.cubeUtilization);
  EXPECT_EQ(info.aicpuUtilization, -1);
  EXPECT_EQ(info.memoryUtilization, -1);
  EXPECT_EQ(aclrtGetDeviceUtilizationRate(99, &info), 107001);
  EXPECT_EQ(aclrtGetDeviceUtilizationRate(5, nullptr), 100000);
  EXPECT_OK(aclrtSetDevice(0));
}

TEST_F(AttributeTest, APrefetchTouchesNothing) {
  OwnStream stream;
  Memory memory(4096);
  EXPECT_OK(aclrtMemset(memory.get(), 4096, 7, 4096));
  EXPECT_OK(aclrtCmoAsync(memory.get(), 4096, ACL_RT_CMO_TYPE_PREFETCH, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(memory.read(), std::vector<uint8_t>(4096, 7));
  EXPECT_EQ(aclrtCmoAsync(memory.get(), 4096, ACL_RT_CMO_TYPE_FLUSH, stream), 207000);
  expect_text("cmoType is 3");
  EXPECT_EQ(aclrtCmoAsync(memory.get(), 4096, static_cast<aclrtCmoType>(8), stream), 107000);
  EXPECT_EQ(aclrtCmoAsync(memory.get(), 4097, ACL_RT_CMO_TYPE_PREFETCH, stream), 107000);
  EXPECT_EQ(aclrtCmoAsync(memory.get(), 0, ACL_RT_CMO_TYPE_PREFETCH, stream), 100000);
  EXPECT_EQ(aclrtCmoAsync(nullptr, 1, ACL_RT_CMO_TYPE_PREFETCH, stream), 100000);
}

/// Fills the four floats at `place` through a function of the device.
aclnnStatus fill(void* place, float value) {
  const int64_t shape[] = {4};
  aclTensor* tensor = aclCreateTensor(shape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 1, place);
  aclScalar* scalar = aclCreateScalar(&value, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  aclnnStatus status = aclnnInplaceFillScalarGetWorkspaceSize(tensor, scalar, &size, &executor);
  if (status == 0) status = aclnnInplaceFillScalar(nullptr, 0, executor, nullptr);
  if (status == 0) status = aclrtSynchronizeStream(nullptr);
  aclDestroyTensor(tensor);
  aclDestroyScalar(scalar);
  return status;
}

TEST_F(AttributeTest, RegisteredHostMemoryHoldsTensorsAndIsHostMemoryToCopies) {
  void* pinned = nullptr;
  ASSERT_OK(aclrtMallocHost(&pinned, 8192));
  void* own = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (void* memory : {pinned, own}) {
    void* reached = nullptr;
    auto* floats = static_cast<float*>(memory);
    floats[4] = 1;
    EXPECT_EQ(fill(memory, 2), 161002);
    ASSERT_OK(aclrtHostRegister(memory, 4096, ACL_HOST_REGISTER_MAPPED, &reached));
    EXPECT_EQ(fill(reached, 2), 0) << aclGetRecentErrMsg();
    EXPECT_EQ(floats[3], 2);
    EXPECT_EQ(floats[4], 1);
    Memory on_device(16);
    EXPECT_OK(aclrtMemcpy(on_device.get(), 16, memory, 16, ACL_MEMCPY_HOST_TO_DEVICE));
    aclrtPtrAttributes attributes{};
    EXPECT_OK(aclrtPointerGetAttributes(memory, &attributes));
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    EXPECT_EQ(aclrtHostRegister(memory, 4096, ACL_HOST_REGISTER_MAPPED, &reached), 107000);
    expect_text("overlaps");
    EXPECT_OK(aclrtHostUnregister(memory));
    EXPECT_EQ(aclrtHostUnregister(memory), 107000);
    EXPECT_EQ(fill(memory, 2), 161002);
  }
  munmap(own, 4096);
  EXPECT_OK(aclrtFreeHost(pinned));
}

TEST_F(AttributeTest, MemoryIsRegisteredByFlags) {
  void* own = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* reached = nullptr;
  for (const uint64_t bits : {ACL_HOST_REG_MAPPED, ACL_HOST_REG_PINNED, ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED}) {
    const auto flag = static_cast<uint32_t>(bits);
    ASSERT_OK(aclrtHostRegisterV2(own, 4096, flag));
    const bool mapped = (flag & ACL_HOST_REG_MAPPED) != 0;
    EXPECT_EQ(aclrtHostGetDevicePointer(static_cast<std::byte*>(own) + 8, &reached, 0), mapped ? 0 : 107000);
    if (!mapped) expect_text("aclrtHostRegisterV2");
    EXPECT_EQ(fill(mapped ? reached : own, 2), mapped ? 0 : 161002);
    EXPECT_EQ(static_cast<float*>(own)[2], mapped ? 2 : 0);
    static_cast<float*>(own)[2] = 0;
    EXPECT_EQ(aclrtHostRegisterV2(own, 4096, flag), 107000);
    EXPECT_OK(aclrtHostUnregister(own));
    EXPECT_EQ(aclrtHostGetDevicePointer(own, &reached, 0), 107000);
  }
  munmap(own, 4096);
}

TEST_F(AttributeTest, WrongFlagsRegisterNothing) {
  void *pinned = nullptr, *reached = nullptr;
  ASSERT_OK(aclrtMallocHost(&pinned, 8192));
  EXPECT_EQ(aclrtHostRegisterV2(pinned, 4096, 0), 107000);
  EXPECT_EQ(aclrtHostRegisterV2(pinned, 4096, 1), 107000);
  EXPECT_EQ(aclrtHostRegisterV2(pinned, 4096, ACL_HOST_REG_IOMEMORY), 207000);
  EXPECT_EQ(aclrtHostRegisterV2(pinned, 4096, ACL_HOST_REG_READONLY | ACL_HOST_REG_MAPPED), 207000);
  EXPECT_EQ(aclrtHostRegisterV2(pinned, 4096, ACL_HOST_REG_PINNED), 107000);
  expect_text("page-locked already");
  EXPECT_EQ(aclrtHostRegisterV2(static_cast<std::byte*>(pinned) + 8, 16, ACL_HOST_REG_MAPPED), 107000);
  EXPECT_EQ(aclrtHostRegisterV2(nullptr, 4096, ACL_HOST_REG_MAPPED), 100000);
  ASSERT_OK(aclrtHostRegisterV2(pinned, 4096, ACL_HOST_REG_MAPPED));
  EXPECT_EQ(aclrtHostGetDevicePointer(pinned, &reached, 1), 107000);
  EXPECT_EQ(aclrtHostGetDevicePointer(pinned, nullptr, 0), 100000);
  EXPECT_OK(aclrtHostUnregister(pinned));
  EXPECT_OK(aclrtFreeHost(pinned));
}

TEST_F(AttributeTest, WrongMemoryIsNotRegistered) {
  void *pinned = nullptr, *reached = nullptr;
  ASSERT_OK(aclrtMallocHost(&pinned, 8192));
  Memory on_device(4096);
  const auto code = [&](void* memory, uint64_t size, int type) {
    return aclrtHostRegister(memory, size, static_cast<aclrtHostRegisterType>(type), &reached);
  };
  EXPECT_EQ(code(static_cast<std::byte*>(pinned) + 8, 16, 0), 107000);
  expect_text("multiple of 4096");
  EXPECT_EQ(code(pinned, 0, 0), 100000);
  EXPECT_EQ(code(pinned, 4096, 8), 207000);
  EXPECT_EQ(code(pinned, 4096, 3), 107000);
  EXPECT_EQ(code(pinned, 16384, 0), 107000);
  EXPECT_EQ(code(reinterpret_cast<void*>(0x10000), 4096, 0), 107000);
  expect_text("not all memory of this process");
  EXPECT_EQ(code(nullptr, 4096, 0), 100000);
  EXPECT_EQ(aclrtHostRegister(pinned, 4096, ACL_HOST_REGISTER_MAPPED, nullptr), 100000);
  ASSERT_OK(aclrtHostRegister(pinned, 4096, ACL_HOST_REGISTER_MAPPED, &reached));
  EXPECT_EQ(aclrtFreeHost(pinned), 107000);
  expect_text("aclrtHostUnregister");
  EXPECT_OK(aclrtHostUnregister(pinned));
  EXPECT_OK(aclrtFreeHost(pinned));
}

}  // namespace
}  // namespace npu::acl
