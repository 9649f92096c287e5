// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "acl/include/hccl/hccl.h"
#include "acl/runtime/runtime_fixture.h"

namespace npu::acl {
namespace {

constexpr size_t kPart = size_t{2} << 20;

/// A communicator of one rank, and two parts of memory in a range of four.
class HcclMemoryRange : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    int32_t device = 0;
    ASSERT_EQ(HcclCommInitAll(1, &device, &comm), HCCL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_OK(aclrtReserveMemAddress(&range, 4 * kPart, 0, nullptr, 0));
    aclrtPhysicalMemProp prop{};
    prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    for (size_t i = 0; i < 2; ++i) {
      ASSERT_OK(aclrtMallocPhysical(&handle[i], kPart, &prop, 0));
      ASSERT_OK(aclrtMapMem(part(i), kPart, 0, handle[i], 0));
    }
  }
  void TearDown() override {
    EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_OK(aclrtUnmapMem(part(i)));
      EXPECT_OK(aclrtFreePhysical(handle[i]));
    }
    EXPECT_OK(aclrtReleaseMemAddress(range));
  }
  void* part(size_t i) const { return static_cast<std::byte*>(range) + i * kPart; }

  HcclComm comm = nullptr;
  void* range = nullptr;
  aclrtDrvMemHandle handle[2] = {};
};

void expect_refused(HcclResult result, const char* words, HcclResult wanted = HCCL_E_PARA) {
  EXPECT_EQ(result, wanted);
  const std::string text = aclGetRecentErrMsg();
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST_F(HcclMemoryRange, PartsComeAndGoWithinTheirRange) {
  ASSERT_EQ(HcclCommSetMemoryRange(comm, range, 4 * kPart, 0, 0), HCCL_SUCCESS) << aclGetRecentErrMsg();
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(HcclCommActivateCommMemory(comm, part(i), kPart, 0, handle[i], 0), HCCL_SUCCESS) << aclGetRecentErrMsg();
  // What was announced is memory like any other.
  const float value = 3;
  float out = 0;
  EXPECT_OK(aclrtMemcpy(part(0), 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_EQ(HcclAllReduce(part(0), part(1), 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, nullptr), HCCL_SUCCESS);
  EXPECT_OK(aclrtMemcpy(&out, 4, part(1), 4, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(out, 3);
  expect_refused(HcclCommUnsetMemoryRange(comm, range), "2 parts of the range are active");
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(HcclCommDeactivateCommMemory(comm, part(i)), HCCL_SUCCESS);
  EXPECT_EQ(HcclCommUnsetMemoryRange(comm, range), HCCL_SUCCESS) << aclGetRecentErrMsg();
}

TEST_F(HcclMemoryRange, WrongAnnouncementsAreRefused) {
  const Memory other(64);
  expect_refused(HcclCommSetMemoryRange(comm, nullptr, kPart, 0, 0), "baseVirPtr is null", HCCL_E_PTR);
  expect_refused(HcclCommSetMemoryRange(nullptr, range, kPart, 0, 0), "comm is null", HCCL_E_PTR);
  expect_refused(HcclCommSetMemoryRange(comm, other.get(), 64, 0, 0), "aclrtReserveMemAddress");
  expect_refused(HcclCommSetMemoryRange(comm, range, 5 * kPart, 0, 0), "aclrtReserveMemAddress");
  expect_refused(HcclCommSetMemoryRange(comm, range, 4 * kPart, 2, 0), "alignment is 2");
  expect_refused(HcclCommActivateCommMemory(comm, part(0), kPart, 0, handle[0], 0), "HcclCommSetMemoryRange");
  ASSERT_EQ(HcclCommSetMemoryRange(comm, range, 3 * kPart, 0, 0), HCCL_SUCCESS) << aclGetRecentErrMsg();
  expect_refused(HcclCommSetMemoryRange(comm, part(2), kPart, 0, 0), "overlaps");
  expect_refused(HcclCommActivateCommMemory(comm, part(0), kPart, 0, handle[1], 0), "is not mapped there");
  expect_refused(HcclCommActivateCommMemory(comm, part(0), 4 * kPart, 0, handle[0], 0), "HcclCommSetMemoryRange");
  expect_refused(HcclCommActivateCommMemory(comm, part(0), kPart, 4, handle[0], 0), "offset is 4");
  ASSERT_EQ(HcclCommActivateCommMemory(comm, part(0), kPart, 0, handle[0], 0), HCCL_SUCCESS) << aclGetRecentErrMsg();
  expect_refused(HcclCommActivateCommMemory(comm, part(0), kPart, 0, handle[0], 0), "active already");
  expect_refused(HcclCommDeactivateCommMemory(comm, part(1)), "not the start of active memory");
  expect_refused(HcclCommUnsetMemoryRange(comm, part(1)), "not the start of a range");
  EXPECT_EQ(HcclCommDeactivateCommMemory(comm, part(0)), HCCL_SUCCESS);
  EXPECT_EQ(HcclCommUnsetMemoryRange(comm, range), HCCL_SUCCESS);
}

TEST_F(HcclMemoryRange, WindowsAreFoundByWhatTheyHold) {
  HcclCommSymWindow first = nullptr, second = nullptr, found = nullptr;
  size_t offset = 0;
  ASSERT_EQ(HcclCommSymWinRegister(comm, part(0), kPart, &first, 1), HCCL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(HcclCommSymWinRegister(comm, part(1), kPart / 2, &second, 0), HCCL_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_NE(first, second);
  auto* inside = static_cast<std::byte*>(part(1)) + 64;
  EXPECT_EQ(HcclCommSymWinGet(comm, inside, 128, &found, &offset), HCCL_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(found, second);
  EXPECT_EQ(offset, 64U);
  expect_refused(HcclCommSymWinGet(comm, inside, kPart, &found, &offset), "not inside one window");
  EXPECT_EQ(HcclCommSymWinDeregister(second), HCCL_SUCCESS);
  expect_refused(HcclCommSymWinGet(comm, inside, 128, &found, &offset), "not inside one window");
  expect_refused(HcclCommSymWinDeregister(second), "is no registered window");
  EXPECT_EQ(HcclCommSymWinDeregister(first), HCCL_SUCCESS);
}

TEST_F(HcclMemoryRange, WrongWindowsAreRefused) {
  HcclCommSymWindow window = nullptr;
  int local = 0;
  expect_refused(HcclCommSymWinRegister(comm, &local, sizeof local, &window, 1), "is not device memory");
  expect_refused(HcclCommSymWinRegister(comm, part(0), 0, &window, 1), "size is 0");
  expect_refused(HcclCommSymWinRegister(comm, part(0), 4 * kPart, &window, 1), "its block of");
  expect_refused(HcclCommSymWinRegister(comm, part(0), kPart, &window, 2), "flag is 2");
  expect_refused(HcclCommSymWinRegister(comm, nullptr, kPart, &window, 1), "addr is null", HCCL_E_PTR);
  expect_refused(HcclCommSymWinRegister(comm, part(0), kPart, nullptr, 1), "winHandle is null", HCCL_E_PTR);
  expect_refused(HcclCommSymWinRegister(nullptr, part(0), kPart, &window, 1), "null", HCCL_E_PTR);
}

}  // namespace
}  // namespace npu::acl
