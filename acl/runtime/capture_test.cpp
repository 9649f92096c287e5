// SPDX-License-Identifier: Apache-2.0
// Recorded streams through the C interface: kernels, copies and fills run again on the memory they were recorded with.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "acl/include/acl/acl_mdl.h"
#include "acl/runtime/runtime_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_foreach_exp.h"
#include "aclnnop/aclnn_nonzero.h"
#include "device/memory/memory.h"
#include "hccl/hccl.h"

namespace npu::acl {
namespace {

constexpr int64_t kCount = 8;
constexpr size_t kBytes = kCount * sizeof(float);

/// kCount floats on the device with an aclTensor over them.
struct Vector {
  Memory memory{kBytes};
  aclTensor* tensor;
  Vector() { tensor = aclCreateTensor(&kCount, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &kCount, 1, memory.get()); }
  ~Vector() { aclDestroyTensor(tensor); }
  void fill(float value) const {
    const std::vector<float> values(kCount, value);
    EXPECT_OK(aclrtMemcpy(memory.get(), kBytes, values.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  float last() const {
    float value = 0;
    const auto bytes = memory.read();
    std::memcpy(&value, bytes.data() + kBytes - sizeof value, sizeof value);
    return value;
  }
};

class Capture : public OnDevice {
 protected:
  const aclError set_ = aclrtSetDevice(0);  // a stream needs a device
  OwnStream stream_;
  void add(const Vector& a, const Vector& b, const Vector& out) {
    double one = 1;
    aclScalar* alpha = aclCreateScalar(&one, ACL_DOUBLE);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_OK(aclnnAddGetWorkspaceSize(a.tensor, b.tensor, alpha, out.tensor, &size, &executor));
    EXPECT_OK(aclnnAdd(nullptr, 0, executor, stream_));
    aclDestroyScalar(alpha);
  }
  void begin() { ASSERT_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL)); }
  aclmdlRI end() {
    aclmdlRI graph = nullptr;
    EXPECT_OK(aclmdlRICaptureEnd(stream_, &graph));
    return graph;
  }
  /// The code of the run, or of its launch where ASCEND_LAUNCH_BLOCKING makes that tell.
  int run(aclmdlRI graph) {
    const int code = aclmdlRIExecuteAsync(graph, stream_);
    return code != 0 ? code : aclrtSynchronizeStream(stream_);
  }
};

TEST_F(Capture, KernelsCopiesAndFillsRunAgainOnNewValues) {
  const Vector a, b, sum, copy;
  void* pinned = nullptr;
  ASSERT_OK(aclrtMallocHost(&pinned, kBytes));
  auto* host = static_cast<float*>(pinned);
  a.fill(1), b.fill(2), sum.fill(0), copy.fill(0);
  begin();
  EXPECT_OK(aclrtMemsetAsync(b.memory.get(), kBytes, 0, kBytes / 2, stream_));
  add(a, b, sum);
  add(sum, sum, sum);
  EXPECT_OK(
      aclrtMemcpyAsync(copy.memory.get(), kBytes, sum.memory.get(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
  EXPECT_OK(aclrtMemcpyAsync(host, kBytes, copy.memory.get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
  const aclmdlRI graph = end();
  EXPECT_EQ(copy.last(), 0);  // nothing has run
  EXPECT_OK(run(graph));
  EXPECT_EQ(copy.last(), 6);
  EXPECT_EQ(host[0], 2);  // b was cleared in its first half
  a.fill(10), b.fill(5);
  EXPECT_OK(run(graph));
  EXPECT_EQ(copy.last(), 30);
  EXPECT_EQ(host[0], 20);
  EXPECT_EQ(host[kCount - 1], 30);
  EXPECT_OK(aclmdlRIDebugPrint(graph));
  const std::string path = testing::TempDir() + "recording.json";
  EXPECT_OK(aclmdlRIDebugJsonPrint(graph, path.c_str(), 0));
  std::ifstream written(path);
  EXPECT_NE(std::string(std::istreambuf_iterator<char>(written), {}).find("\"tasks\""), std::string::npos);
  EXPECT_EQ(aclmdlRIDebugJsonPrint(graph, path.c_str(), 2), 107000);
  EXPECT_EQ(aclmdlRIDebugJsonPrint(graph, "/nowhere/a.json", 1), 107000);
  EXPECT_EQ(aclmdlRIDebugJsonPrint(graph, nullptr, 1), 100000);
  uint32_t id = 0;
  EXPECT_OK(aclmdlRIGetId(graph, &id));
  EXPECT_GT(id, 0u);
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_EQ(aclmdlRIDestroy(graph), 107017);
  EXPECT_OK(aclrtFreeHost(pinned));
}

TEST_F(Capture, StreamsForkAndJoinThroughEvents) {
  const Vector a, b, out;
  a.fill(1), b.fill(0), out.fill(0);
  OwnStream side;
  aclrtEvent fork = nullptr, join = nullptr;
  ASSERT_OK(aclrtCreateEvent(&fork));
  ASSERT_OK(aclrtCreateEvent(&join));
  begin();
  EXPECT_OK(aclrtRecordEvent(fork, stream_));
  EXPECT_OK(aclrtStreamWaitEvent(side, fork));
  EXPECT_OK(aclrtMemcpyAsync(b.memory.get(), kBytes, a.memory.get(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, side));
  EXPECT_EQ(aclrtSynchronizeStream(side), 107000);
  EXPECT_EQ(aclrtSynchronizeEvent(fork), 107000);
  EXPECT_OK(aclrtRecordEvent(join, side));
  EXPECT_OK(aclrtStreamWaitEvent(stream_, join));
  add(a, b, out);
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI early = nullptr;
  EXPECT_OK(aclmdlRICaptureGetInfo(side, &status, &early));
  EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  const aclmdlRI graph = end();
  EXPECT_EQ(graph, early);
  a.fill(4);
  EXPECT_OK(run(graph));
  EXPECT_EQ(out.last(), 8);
  EXPECT_OK(aclrtSynchronizeStream(side));
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_OK(aclrtDestroyEvent(fork));
  EXPECT_OK(aclrtDestroyEvent(join));
}

TEST_F(Capture, WhatIsNotSafeNeedsTheRelaxedMode) {
  const Vector a, out;
  std::vector<float> pageable(kCount, 3);
  const auto read_in = [&] {
    return aclrtMemcpyAsync(a.memory.get(), kBytes, pageable.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_);
  };
  a.fill(1);
  begin();
  EXPECT_EQ(read_in(), 107000);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("a copy of pageable host memory is not safe"), std::string::npos);
  EXPECT_EQ(aclrtMemset(a.memory.get(), kBytes, 0, kBytes), 107000);
  EXPECT_EQ(aclrtMemcpy(pageable.data(), kBytes, a.memory.get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST), 107000);
  aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  EXPECT_OK(aclmdlRICaptureThreadExchangeMode(&mode));
  EXPECT_EQ(mode, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  EXPECT_OK(read_in());
  EXPECT_OK(aclmdlRICaptureThreadExchangeMode(&mode));
  const aclmdlRI graph = end();
  pageable.assign(kCount, 9);  // each run reads what is there
  EXPECT_OK(run(graph));
  EXPECT_EQ(a.last(), 9);
  EXPECT_OK(aclmdlRIDestroy(graph));
}

TEST_F(Capture, AGraphRetainsTheMemoryItNames) {
  const Vector a, out, copy;
  auto* b = new Vector;
  a.fill(1), b->fill(2);
  void* pinned = nullptr;
  ASSERT_OK(aclrtMallocHost(&pinned, kBytes));
  begin();
  add(a, *b, out);
  EXPECT_OK(aclrtMemcpyAsync(pinned, kBytes, out.memory.get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
  EXPECT_OK(aclrtMemcpyAsync(copy.memory.get(), kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
  const aclmdlRI graph = end();
  EXPECT_OK(run(graph));
  const device::MemoryInfo before = device::memory_info(0);
  delete b;
  EXPECT_OK(aclrtFreeHost(pinned));
  EXPECT_EQ(device::memory_info(0).used, before.used) << "the graph still uses it";
  if (device::detail::guard_mode) {
    EXPECT_NE(run(graph), 0);
    const std::string text = aclGetRecentErrMsg();
    EXPECT_NE(text.find("task 1 of 3"), std::string::npos) << text;
    EXPECT_NE(text.find("other points to memory that was freed"), std::string::npos) << text;
  } else {
    const Vector next;  // not in the place that the graph writes and reads
    next.fill(50);
    a.fill(4);
    EXPECT_OK(run(graph));
    EXPECT_EQ(copy.last(), 6);
    EXPECT_EQ(next.last(), 50);
  }
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_OK(aclrtSynchronizeStream(stream_));
  EXPECT_LT(device::memory_info(0).used, before.used);
}

TEST_F(Capture, MemoryFreedWhileItIsRecordedIsNotHandedOut) {
  if (device::detail::guard_mode) GTEST_SKIP() << "an error there";
  const Vector out;
  out.fill(0);
  auto* gone = new Vector;
  gone->fill(3);
  begin();
  add(*gone, *gone, out);
  delete gone;
  const Vector next;
  EXPECT_OK(aclrtMemsetAsync(next.memory.get(), kBytes, 0, kBytes, stream_));
  const aclmdlRI graph = end();
  EXPECT_OK(run(graph));
  EXPECT_EQ(out.last(), 6);
  EXPECT_OK(aclmdlRIDestroy(graph));
}

TEST_F(Capture, MappedMemoryThatIsGoneIsAnErrorOfTheRun) {
  if (device::detail::guard_mode) GTEST_SKIP() << "kernels' addresses belong to no block";
  constexpr size_t kPart = size_t{2} << 20;
  void* range = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  aclrtPhysicalMemProp prop{};
  prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  ASSERT_OK(aclrtReserveMemAddress(&range, kPart, 0, nullptr, 0));
  ASSERT_OK(aclrtMallocPhysical(&handle, kPart, &prop, 0));
  ASSERT_OK(aclrtMapMem(range, kPart, 0, handle, 0));
  begin();
  EXPECT_OK(aclrtMemsetAsync(range, kPart, 1, kPart, stream_));
  const aclmdlRI graph = end();
  EXPECT_OK(run(graph));
  EXPECT_OK(aclrtUnmapMem(range));
  EXPECT_NE(run(graph), 0);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("task 1 of 1"), std::string::npos);
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_OK(aclrtFreePhysical(handle));
  EXPECT_OK(aclrtReleaseMemAddress(range));
}

TEST_F(Capture, ListsAreRecordedToo) {
  const Vector in;
  Vector out;
  in.fill(0);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  aclTensor* from = aclCreateTensor(&kCount, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &kCount, 1, in.memory.get());
  aclTensorList* xs = aclCreateTensorList(&from, 1);
  aclTensor* to = aclCreateTensor(&kCount, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &kCount, 1, out.memory.get());
  aclTensorList* ys = aclCreateTensorList(&to, 1);
  begin();
  EXPECT_OK(aclnnForeachExpGetWorkspaceSize(xs, ys, &size, &executor));
  EXPECT_OK(aclnnForeachExp(nullptr, 0, executor, stream_));
  const aclmdlRI graph = end();
  EXPECT_OK(aclDestroyTensorList(xs));
  EXPECT_OK(aclDestroyTensorList(ys));
  EXPECT_OK(run(graph));
  EXPECT_EQ(out.last(), 1);
  EXPECT_OK(aclmdlRIDestroy(graph));
}

TEST_F(Capture, AShapeThatDependsOnTheDataCannotBeToldByARun) {
  const Vector in;
  in.fill(2);
  const int64_t dims[] = {kCount, 1};
  const Memory places(kCount * sizeof(int64_t));
  aclTensor* found = aclCreateTensor(dims, 2, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, dims, 2, places.get());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  begin();
  EXPECT_OK(aclnnNonzeroGetWorkspaceSize(in.tensor, found, &size, &executor));
  EXPECT_OK(aclnnNonzero(nullptr, 0, executor, stream_));
  const aclmdlRI graph = end();
  EXPECT_OK(aclDestroyTensor(found));
  EXPECT_NE(run(graph), 0);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("shape depends on the data"), std::string::npos);
  EXPECT_OK(aclmdlRIDestroy(graph));
}

TEST_F(Capture, ACollectiveIsRefusedAndItsCommunicatorLivesOn) {
  const Vector a;
  a.fill(5);
  int32_t device = 0;
  HcclComm alone = nullptr;
  ASSERT_OK(HcclCommInitAll(1, &device, &alone));
  const auto reduce = [&] {
    void* memory = a.memory.get();
    return HcclAllReduce(memory, memory, kCount, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, alone, stream_);
  };
  begin();
  EXPECT_EQ(reduce(), HCCL_E_NOT_SUPPORT);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("cannot be recorded"), std::string::npos);
  EXPECT_OK(aclmdlRIDestroy(end()));
  EXPECT_OK(reduce());
  EXPECT_OK(aclrtSynchronizeStream(stream_));
  EXPECT_EQ(a.last(), 5);
  EXPECT_OK(HcclCommDestroy(alone));
}

class TaskGroup : public Capture {
 protected:
  /// alpha is a host argument, which an update changes.
  void add_scaled(const Vector& a, const Vector& b, double alpha, const Vector& out, aclrtStream stream) {
    aclScalar* scalar = aclCreateScalar(&alpha, ACL_DOUBLE);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_OK(aclnnAddGetWorkspaceSize(a.tensor, b.tensor, scalar, out.tensor, &size, &executor));
    EXPECT_OK(aclnnAdd(nullptr, 0, executor, stream));
    aclDestroyScalar(scalar);
  }
  OwnStream other_;
};

TEST_F(TaskGroup, AnUpdateGivesNewHostArgumentsToLaterRuns) {
  const Vector a, b, out;
  a.fill(1), b.fill(10), out.fill(0);
  aclrtTaskGrp group = nullptr;
  begin();
  EXPECT_OK(aclmdlRICaptureTaskGrpBegin(stream_));
  add_scaled(a, b, 2, out, stream_);
  EXPECT_OK(aclmdlRICaptureTaskGrpEnd(stream_, &group));
  add(out, a, out);
  const aclmdlRI graph = end();
  EXPECT_OK(run(graph));
  EXPECT_EQ(out.last(), 22);
  EXPECT_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
  add_scaled(a, b, 3, out, other_);
  EXPECT_OK(aclmdlRICaptureTaskUpdateEnd(other_));
  EXPECT_OK(aclrtSynchronizeStream(other_));
  EXPECT_EQ(out.last(), 22) << "the update itself computes nothing";
  EXPECT_OK(run(graph));
  EXPECT_EQ(out.last(), 32);
  EXPECT_OK(aclmdlRIExecute(graph, -1));
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(other_, group), 107017) << "it ends with its graph";
}

TEST_F(TaskGroup, ARunWaitsForItsUpdateByAnExternalEvent) {
  const Vector a, b, out;
  a.fill(1), b.fill(10), out.fill(0);
  aclrtEvent updated = nullptr;
  ASSERT_OK(aclrtCreateEventWithFlag(&updated, ACL_EVENT_EXTERNAL));
  aclrtTaskGrp group = nullptr;
  begin();
  EXPECT_OK(aclrtStreamWaitEvent(stream_, updated));
  EXPECT_OK(aclrtResetEvent(updated, stream_));
  EXPECT_OK(aclmdlRICaptureTaskGrpBegin(stream_));
  add_scaled(a, b, 0, out, stream_);
  EXPECT_OK(aclmdlRICaptureTaskGrpEnd(stream_, &group));
  const aclmdlRI graph = end();
  for (int i = 1; i < 6; ++i) {
    // Before and after the update.
    if (i % 2 == 0) {
      EXPECT_OK(aclmdlRIExecuteAsync(graph, stream_));
    }
    EXPECT_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
    add_scaled(a, b, i, out, other_);
    EXPECT_OK(aclmdlRICaptureTaskUpdateEnd(other_));
    EXPECT_OK(aclrtRecordEvent(updated, other_));
    if (i % 2 != 0) {
      EXPECT_OK(aclmdlRIExecuteAsync(graph, stream_));
    }
    EXPECT_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(out.last(), 1 + 10 * i);
  }
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_OK(aclrtDestroyEvent(updated));
}

TEST_F(TaskGroup, ARunThatWaitsCanBeAborted) {
  const Vector a, out;
  a.fill(1), out.fill(0);
  aclrtEvent never = nullptr;
  ASSERT_OK(aclrtCreateEventWithFlag(&never, ACL_EVENT_EXTERNAL));
  begin();
  EXPECT_OK(aclrtStreamWaitEvent(stream_, never));
  add(a, a, out);
  const aclmdlRI graph = end();
  EXPECT_OK(aclmdlRIAbort(graph)) << "nothing runs";
  EXPECT_OK(aclmdlRIExecuteAsync(graph, stream_));
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 30), 507046);
  EXPECT_OK(aclmdlRIAbort(graph));
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 500001);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("aborted"), std::string::npos);
  EXPECT_EQ(out.last(), 0);
  EXPECT_OK(aclrtRecordEvent(never, other_));
  EXPECT_OK(aclrtSynchronizeStream(other_));
  EXPECT_OK(run(graph));
  EXPECT_EQ(out.last(), 2);
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_OK(aclrtDestroyEvent(never));
}

TEST_F(TaskGroup, NamesAreForPeople) {
  const Vector a, out;
  begin();
  add(a, a, out);
  const aclmdlRI graph = end();
  char name[8] = "before";
  EXPECT_OK(aclmdlRIGetName(graph, sizeof name, name));
  EXPECT_STREQ(name, "");
  EXPECT_OK(aclmdlRISetName(graph, "decoder of 32 layers"));
  EXPECT_OK(aclmdlRIGetName(graph, sizeof name, name));
  EXPECT_STREQ(name, "decoder");
  EXPECT_EQ(aclmdlRIGetName(graph, 0, name), 107000);
  EXPECT_EQ(aclmdlRIGetName(graph, 8, nullptr), 100000);
  EXPECT_EQ(aclmdlRISetName(graph, nullptr), 100000);
  EXPECT_EQ(aclmdlRIExecute(graph, 0), 107000);
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_EQ(aclmdlRISetName(graph, "x"), 107017);
}

TEST_F(TaskGroup, WrongCallsAreRefusedAndLeaveTheGroup) {
  const auto text = [] { return std::string(aclGetRecentErrMsg()); };
  const Vector a, b, out;
  a.fill(1), b.fill(2);
  aclrtTaskGrp group = nullptr;
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), 107000);
  EXPECT_NE(text().find("is not captured"), std::string::npos);
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group), 107000);
  begin();
  EXPECT_OK(aclmdlRICaptureTaskGrpBegin(stream_));
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), 107000);
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, nullptr), 100000);
  add_scaled(a, b, 1, out, stream_);
  EXPECT_OK(aclmdlRICaptureTaskGrpEnd(stream_, &group));
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(stream_, group), 107000);
  EXPECT_NE(text().find("is captured"), std::string::npos);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(other_, group), 107000);
  EXPECT_NE(text().find("is still recorded"), std::string::npos);
  const aclmdlRI graph = end();
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(other_, nullptr), 107017);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(other_, graph), 107017);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(other_), 107000);
  EXPECT_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(other_, group), 107000);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(other_), 107000);
  EXPECT_NE(text().find("has 1 tasks, the update 0"), std::string::npos);
  EXPECT_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
  EXPECT_OK(aclrtMemsetAsync(out.memory.get(), kBytes, 0, kBytes, other_));
  EXPECT_EQ(aclrtMemsetAsync(out.memory.get(), kBytes, 0, kBytes, other_), 107000);
  EXPECT_NE(text().find("the task group has 1 tasks, memset would be one more"), std::string::npos);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(other_), 107000);
  EXPECT_NE(text().find("task 1 of the group is aclnnAdd, the update has memset"), std::string::npos);
  EXPECT_OK(run(graph));
  EXPECT_EQ(out.last(), 3);
  EXPECT_OK(aclmdlRIDestroy(graph));
  aclrtEvent event = nullptr;
  EXPECT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC), 107000);
}

TEST_F(TaskGroup, ACaptureWithAnOpenGroupGivesNoGraph) {
  aclmdlRI graph = nullptr;
  begin();
  EXPECT_OK(aclmdlRICaptureTaskGrpBegin(stream_));
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph), 107000);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("a task group is open"), std::string::npos);
}

TEST_F(Capture, WrongCallsAnswerWithATextThatSaysWhat) {
  aclmdlRI graph = nullptr;
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  const auto text = [] { return std::string(aclGetRecentErrMsg()); };
  const auto unknown = static_cast<aclmdlRICaptureMode>(7);  // NOLINT: what a C program may pass
  EXPECT_EQ(aclmdlRICaptureBegin(stream_, unknown), 107000);
  EXPECT_NE(text().find("mode is 7"), std::string::npos);
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph), 107000);
  EXPECT_NE(text().find("[aclmdlRICaptureEnd]"), std::string::npos);
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, nullptr), 100000);
  EXPECT_EQ(aclmdlRICaptureGetInfo(stream_, nullptr, &graph), 100000);
  EXPECT_EQ(aclmdlRICaptureGetInfo(stream_, &status, nullptr), 100000);
  EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(nullptr), 100000);
  EXPECT_EQ(aclmdlRIExecuteAsync(nullptr, stream_), 107017);
  EXPECT_EQ(aclmdlRIExecuteAsync(&status, stream_), 107017);
  EXPECT_EQ(aclmdlRIDestroy(nullptr), 107017);
  EXPECT_EQ(aclmdlRIGetId(nullptr, nullptr), 107017);
  begin();
  EXPECT_EQ(aclrtDestroyStream(stream_), 107000);
  EXPECT_NE(text().find("cannot destroy stream"), std::string::npos);
  EXPECT_OK(aclmdlRIDestroy(end()));
}

}  // namespace
}  // namespace npu::acl
