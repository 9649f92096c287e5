// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/activity.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "acl/aclnn/tensor_fixture.h"
#include "acl/include/acl/acl_prof.h"
#include "acl/include/mstx/ms_tools_ext.h"
#include "acl/runtime/runtime_fixture.h"
#include "aclnnop/aclnn_log.h"

namespace npu::acl {
namespace {

using Floats = TestTensor<float>;

// A client of mspti; its functions know no object.
std::mutex mutex;
size_t buffer_size = 1 << 16;
std::vector<std::vector<uint8_t>> buffers;

void request(uint8_t** buffer, size_t* size, size_t* most) {
  *size = buffer_size;
  *most = 0;
  *buffer = buffer_size == 0 ? nullptr : static_cast<uint8_t*>(std::aligned_alloc(8, buffer_size));
}
std::atomic<bool> holds{false}, came{false};
void complete(uint8_t* buffer, size_t, size_t valid) {
  if (!came.exchange(true))
    while (holds) std::this_thread::yield();
  const std::lock_guard lock(mutex);
  buffers.emplace_back(buffer, buffer + valid);
  std::free(buffer);
}

class Mspti : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    buffer_size = 1 << 16;
    ASSERT_EQ(msptiSubscribe(&subscriber, nullptr, nullptr), MSPTI_SUCCESS);
    ASSERT_EQ(msptiActivityRegisterCallbacks(request, complete), MSPTI_SUCCESS);
    buffers.clear();
  }
  void TearDown() override {
    for (int kind = 1; kind < MSPTI_ACTIVITY_KIND_COUNT; ++kind)
      EXPECT_EQ(msptiActivityDisable(static_cast<msptiActivityKind>(kind)), MSPTI_SUCCESS);
    msptiActivityFlushAll(1);
    EXPECT_EQ(msptiUnsubscribe(subscriber), MSPTI_SUCCESS);
  }
  static void enable(std::initializer_list<msptiActivityKind> kinds) {
    for (const msptiActivityKind kind : kinds) ASSERT_EQ(msptiActivityEnable(kind), MSPTI_SUCCESS) << kind;
  }
  /// All records of one kind that have come back.
  template <class Record>
  std::vector<Record> all(msptiActivityKind kind) {
    EXPECT_EQ(msptiActivityFlushAll(1), MSPTI_SUCCESS);
    const std::lock_guard lock(mutex);
    std::vector<Record> found;
    for (std::vector<uint8_t>& buffer : buffers)
      for (msptiActivity* at = nullptr; msptiActivityGetNextRecord(buffer.data(), buffer.size(), &at) == MSPTI_SUCCESS;)
        if (at->kind == kind) found.push_back(*reinterpret_cast<const Record*>(at));
    return found;
  }
  static aclOpExecutor* prepared(const Floats& x, const Floats& out) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnLogGetWorkspaceSize(x, out, &size, &executor), 0);
    return executor;
  }
  static uint64_t here() {
    uint64_t time = 0;
    EXPECT_EQ(msptiGetTimestamp(&time), MSPTI_SUCCESS);
    return time;
  }

  msptiSubscriberHandle subscriber = nullptr;
  const Floats x{{2}, {1, 2}}, out{{2}};
};

TEST_F(Mspti, AnOperatorTellsTheCallThatQueuedIt) {
  const OwnStream stream;
  enable({MSPTI_ACTIVITY_KIND_KERNEL, MSPTI_ACTIVITY_KIND_API});
  const uint64_t before = here();
  ASSERT_EQ(aclnnLog(nullptr, 0, prepared(x, out), stream), 0);
  ASSERT_OK(aclrtSynchronizeStream(stream));
  const uint64_t after = here();
  const auto kernels = all<msptiActivityKernel>(MSPTI_ACTIVITY_KIND_KERNEL);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_STREQ(kernels[0].name, "aclnnLog_Log");
  EXPECT_STREQ(kernels[0].type, "AI_VECTOR_CORE");
  EXPECT_LE(before, kernels[0].start);
  EXPECT_LE(kernels[0].start, kernels[0].end);
  EXPECT_LE(kernels[0].end, after);
  std::map<std::string, uint64_t> calls;
  for (const auto& call : all<msptiActivityApi>(MSPTI_ACTIVITY_KIND_API)) calls[call.name] = call.correlationId;
  EXPECT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls["aclnnLog"], kernels[0].correlationId);
}

TEST_F(Mspti, AnOperatorIsForWhomItWasPrepared) {
  const OwnStream stream;
  enable({MSPTI_ACTIVITY_KIND_KERNEL, MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION});
  ASSERT_EQ(msptiActivityPushExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 41), MSPTI_SUCCESS);
  ASSERT_EQ(msptiActivityPushExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 42), MSPTI_SUCCESS);
  aclOpExecutor* const executor = prepared(x, out);
  std::thread([&] {  // a client that queues in a thread of its own
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_EQ(aclnnLog(nullptr, 0, executor, stream), 0);
    EXPECT_OK(aclrtSynchronizeStream(stream));
  })
      .join();
  uint64_t last = 0;
  ASSERT_EQ(msptiActivityPopExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last), MSPTI_SUCCESS);
  EXPECT_EQ(last, 42u);
  ASSERT_EQ(msptiActivityPopExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, nullptr), MSPTI_SUCCESS);
  EXPECT_EQ(msptiActivityPopExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, nullptr),
            MSPTI_ERROR_QUEUE_EMPTY);
  const auto kernels = all<msptiActivityKernel>(MSPTI_ACTIVITY_KIND_KERNEL);
  ASSERT_EQ(kernels.size(), 1u);
  std::map<uint64_t, uint64_t> owners;
  for (const auto& one : all<msptiActivityExternalCorrelation>(MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
    owners[one.correlationId] = one.externalId;
  EXPECT_EQ(owners[kernels[0].correlationId], 42u);
}

TEST_F(Mspti, MemoryAndWhatMoves) {
  const OwnStream stream;
  enable({MSPTI_ACTIVITY_KIND_MEMORY, MSPTI_ACTIVITY_KIND_MEMCPY, MSPTI_ACTIVITY_KIND_MEMSET});
  uint64_t address = 0;
  {
    const Memory memory(4096);
    address = reinterpret_cast<uint64_t>(memory.get());
    const std::vector<uint8_t> host(4096, 1);
    ASSERT_OK(aclrtMemcpyAsync(memory.get(), 4096, host.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    ASSERT_OK(aclrtMemsetAsync(memory.get(), 4096, 0, 512, stream));
    ASSERT_OK(aclrtSynchronizeStream(stream));
    std::vector<uint8_t> back(256);
    ASSERT_OK(aclrtMemcpy(back.data(), 256, memory.get(), 256, ACL_MEMCPY_DEVICE_TO_HOST));
    ASSERT_OK(aclrtMemcpy(back.data(), 256, host.data(), 256, ACL_MEMCPY_HOST_TO_HOST));  // the NPU has no part in it
    ASSERT_OK(aclrtMemset(memory.get(), 4096, 0, 128));
  }
  const auto memory = all<msptiActivityMemory>(MSPTI_ACTIVITY_KIND_MEMORY);
  ASSERT_EQ(memory.size(), 2u);
  for (const auto& one : memory) {
    EXPECT_EQ(one.address, address);
    EXPECT_EQ(one.bytes, 4096u);
    EXPECT_EQ(one.memoryKind, MSPTI_ACTIVITY_MEMORY_DEVICE);
  }
  EXPECT_EQ(memory[0].memoryOperationType, MSPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
  EXPECT_EQ(memory[1].memoryOperationType, MSPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
  const auto copies = all<msptiActivityMemcpy>(MSPTI_ACTIVITY_KIND_MEMCPY);
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0].bytes, 4096u);
  EXPECT_EQ(copies[0].copyKind, MSPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  EXPECT_EQ(copies[1].bytes, 256u);
  EXPECT_EQ(copies[0].isAsync, 1);
  EXPECT_EQ(copies[1].isAsync, 0);
  EXPECT_EQ(copies[1].copyKind, MSPTI_ACTIVITY_MEMCPY_KIND_DTOH);
  const auto fills = all<msptiActivityMemset>(MSPTI_ACTIVITY_KIND_MEMSET);
  ASSERT_EQ(fills.size(), 2u);
  EXPECT_EQ(fills[0].bytes, 512u);
  EXPECT_EQ(fills[1].bytes, 128u);
}

TEST_F(Mspti, MarksOfTheHostAndOfItsStream) {
  const OwnStream stream;
  mstxDomainDestroy(nullptr);  // refused, and nothing else
  const mstxDomainHandle_t domain = mstxDomainCreateA("load");
  ASSERT_NE(domain, nullptr);
  EXPECT_EQ(mstxDomainCreateA("load"), domain);
  EXPECT_EQ(mstxDomainCreateA(""), nullptr);
  const mstxRangeId before = mstxRangeStartA("unseen", nullptr);
  enable({MSPTI_ACTIVITY_KIND_MARKER});
  mstxRangeEnd(before);
  mstxMarkA("here", nullptr);
  const mstxRangeId range = mstxDomainRangeStartA(domain, "epoch", stream);
  EXPECT_NE(range, 0u);
  mstxDomainRangeEnd(domain, range);
  mstxDomainRangeEnd(domain, range);  // once only
  ASSERT_OK(aclrtSynchronizeStream(stream));
  ASSERT_EQ(msptiActivityDisableMarkerDomain("load"), MSPTI_SUCCESS);
  mstxDomainMarkA(domain, "refused", nullptr);
  ASSERT_EQ(msptiActivityEnableMarkerDomain("load"), MSPTI_SUCCESS);
  std::multimap<int, msptiActivityMarker> marks;
  for (const auto& mark : all<msptiActivityMarker>(MSPTI_ACTIVITY_KIND_MARKER)) marks.emplace(mark.flag, mark);
  ASSERT_EQ(marks.size(), 5u);
  const msptiActivityMarker& moment = marks.find(MSPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS)->second;
  EXPECT_STREQ(moment.name, "here");
  EXPECT_EQ(moment.domain, nullptr);
  const auto one = [&](msptiActivityFlag flag) {
    EXPECT_EQ(marks.count(flag), 1u) << flag;
    return marks.find(flag)->second;
  };
  const msptiActivityMarker start = one(MSPTI_ACTIVITY_FLAG_MARKER_START_WITH_DEVICE),
                            end = one(MSPTI_ACTIVITY_FLAG_MARKER_END_WITH_DEVICE),
                            called = one(MSPTI_ACTIVITY_FLAG_MARKER_START);
  EXPECT_STREQ(start.name, "epoch");
  EXPECT_STREQ(start.domain, "load");
  EXPECT_EQ(end.name, nullptr);
  EXPECT_EQ(start.id, end.id);
  EXPECT_EQ(start.id, called.id);
  EXPECT_LE(called.timestamp, start.timestamp);
  EXPECT_LE(start.timestamp, end.timestamp);
  EXPECT_EQ(start.sourceKind, MSPTI_ACTIVITY_SOURCE_KIND_DEVICE);
  mstxDomainDestroy(domain);
}

TEST_F(Mspti, RangesOfAStreamBeginWhenItComesToThem) {
  const OwnStream stream;
  enable({MSPTI_ACTIVITY_KIND_MARKER});
  std::atomic<bool> go{false};
  const auto wait = [](void* flag) {
    while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
  };
  ASSERT_OK(aclrtLaunchHostFunc(stream, wait, &go));
  mstxRangeEnd(mstxRangeStartA("later", stream));
  const uint64_t called = here();
  go = true;
  ASSERT_OK(aclrtSynchronizeStream(stream));
  uint64_t begun = 0;
  for (const auto& mark : all<msptiActivityMarker>(MSPTI_ACTIVITY_KIND_MARKER))
    if (mark.flag == MSPTI_ACTIVITY_FLAG_MARKER_START_WITH_DEVICE) begun = mark.timestamp;
  EXPECT_GE(begun, called);
}

TEST_F(Mspti, FullBuffersComeBackByThemselves) {
  buffer_size = 2 * sizeof(msptiActivityMarker);
  enable({MSPTI_ACTIVITY_KIND_MARKER});
  for (int i = 0; i < 101; ++i) mstxMarkA("mark", nullptr);
  EXPECT_EQ(all<msptiActivityMarker>(MSPTI_ACTIVITY_KIND_MARKER).size(), 101u);
  EXPECT_EQ(buffers.size(), 51u);
}

TEST_F(Mspti, FlushingWaitsForWhatAnotherThreadGivesBack) {
  buffer_size = 2 * sizeof(msptiActivityMarker);
  enable({MSPTI_ACTIVITY_KIND_MARKER});
  holds = true, came = false;
  for (int i = 0; i < 3; ++i) mstxMarkA("mark", nullptr);
  while (!came) std::this_thread::yield();
  std::atomic<bool> flushed{false};
  std::jthread flushing([&] {
    msptiActivityFlushAll(1);
    flushed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(flushed);
  holds = false;
  flushing.join();
  const std::lock_guard lock(mutex);
  EXPECT_EQ(buffers.size(), 2u);
}

TEST_F(Mspti, WithoutABufferRecordsAreCounted) {
  size_t dropped = 0;
  ASSERT_EQ(msptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), MSPTI_SUCCESS);
  buffer_size = 0;
  enable({MSPTI_ACTIVITY_KIND_MARKER});
  for (int i = 0; i < 3; ++i) mstxMarkA("mark", nullptr);
  ASSERT_EQ(msptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), MSPTI_SUCCESS);
  EXPECT_EQ(dropped, 3u);
}

TEST_F(Mspti, WrongArgumentsAreRefused) {
  msptiSubscriberHandle second = nullptr;
  EXPECT_EQ(msptiSubscribe(&second, nullptr, nullptr), MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_EQ(msptiSubscribe(nullptr, nullptr, nullptr), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiUnsubscribe(nullptr), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiActivityRegisterCallbacks(nullptr, complete), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiActivityEnable(MSPTI_ACTIVITY_KIND_INVALID), MSPTI_ERROR_INVALID_KIND);
  EXPECT_EQ(msptiActivityEnable(static_cast<msptiActivityKind>(99)), MSPTI_ERROR_INVALID_KIND);
  EXPECT_FALSE(msptiActivityIsEnabled(static_cast<msptiActivityKind>(-1)));
  EXPECT_EQ(msptiActivityEnableMarkerDomain(nullptr), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiActivityPushExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_INVALID, 1),
            MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiGetTimestamp(nullptr), MSPTI_ERROR_INVALID_PARAMETER);
  msptiActivity* record = nullptr;
  EXPECT_EQ(msptiActivityGetNextRecord(nullptr, 8, &record), MSPTI_ERROR_INVALID_PARAMETER);
  uint8_t wrong[8] = {77};
  record = reinterpret_cast<msptiActivity*>(wrong);
  EXPECT_EQ(msptiActivityGetNextRecord(wrong, 8, &record), MSPTI_ERROR_INVALID_KIND);
}

TEST_F(OnDevice, StampsAreCheckedBeforeTheyMark) {
  void* const stamp = aclprofCreateStamp();
  ASSERT_NE(stamp, nullptr);
  EXPECT_OK(aclprofSetStampTraceMessage(stamp, "step", 4));
  EXPECT_OK(aclprofMark(stamp));
  EXPECT_OK(aclprofPush(stamp));
  EXPECT_OK(aclprofPop());
  EXPECT_EQ(aclprofPop(), ACL_ERROR_INVALID_PARAM);
  uint32_t range = 0;
  EXPECT_OK(aclprofRangeStart(stamp, &range));
  EXPECT_OK(aclprofRangeStop(range));
  EXPECT_EQ(aclprofRangeStop(range), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofRangeStart(stamp, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofMarkEx("text", 4, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofSetStampTraceMessage(stamp, "", 0), ACL_ERROR_INVALID_PARAM);
  aclprofDestroyStamp(stamp);
  EXPECT_EQ(aclprofMark(stamp), ACL_ERROR_INVALID_PARAM);
  aclprofStepInfo* const step = aclprofCreateStepInfo();
  const OwnStream stream;
  EXPECT_OK(aclprofGetStepTimestamp(step, ACL_STEP_START, stream));
  EXPECT_EQ(aclprofGetStepTimestamp(step, static_cast<aclprofStepTag>(7), stream), ACL_ERROR_INVALID_PARAM);
  aclprofDestroyStepInfo(step);
  EXPECT_EQ(aclprofGetStepTimestamp(step, ACL_STEP_END, stream), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
}  // namespace npu::acl
