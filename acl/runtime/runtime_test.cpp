// SPDX-License-Identifier: Apache-2.0
// The runtime as a client sees it: what the functions answer when called rightly.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "acl/include/acl/acl_mdl.h"
#include "acl/include/acl/acl_prof.h"
#include "acl/profiling/record.h"
#include "acl/runtime/config.h"
#include "acl/runtime/runtime_fixture.h"
#include "aclnn/acl_meta.h"
#include "base/error.h"
#include "base/log.h"
#include "device/process/status_page.h"

static_assert(sizeof(aclrtPhysicalMemProp) == 32 && offsetof(aclrtPhysicalMemProp, reserve) == 24);
static_assert(sizeof(aclrtPtrAttributes) == 28 && offsetof(aclrtPtrAttributes, pageSize) == 8);
static_assert(sizeof(aclCANNPackageVersion) == 512);

namespace npu::acl {
namespace {

using Runtime = OnDevice;

TEST_F(Runtime, ReportsTheInstallation) {
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910B1");
  aclCANNPackageVersion version;
  for (int package = 0; package < 8; ++package) {
    EXPECT_OK(aclsysGetCANNVersion(static_cast<aclCANNPackageName>(package), &version));
    EXPECT_STREQ(version.version, "9.1.0");
  }
  char package[] = "runtime", text[ACL_PKG_VERSION_MAX_SIZE];
  EXPECT_OK(aclsysGetVersionStr(package, text));
  EXPECT_STREQ(text, "9.1.0");
  int32_t has = 0;
  EXPECT_OK(aclGetCannAttribute(ACL_CANN_ATTR_INF_NAN, &has));
  EXPECT_EQ(has, 1);
  const aclCannAttr* list = nullptr;
  size_t count = 0;
  EXPECT_OK(aclGetCannAttributeList(&list, &count));
  EXPECT_EQ(count, 2u);
  aclrtUuid first{}, second{};
  EXPECT_OK(aclrtDeviceGetUuid(0, &first));
  EXPECT_OK(aclrtDeviceGetUuid(1, &second));
  EXPECT_NE(std::memcmp(&first, &second, sizeof first), 0);
  int64_t cores = 0, memory = 0;
  EXPECT_OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &cores));
  EXPECT_GT(cores, 0);
  EXPECT_OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &memory));
  EXPECT_GT(memory, 0);
}

TEST_F(Runtime, DevicesAndContexts) {
  uint32_t count = 0;
  EXPECT_OK(aclrtGetDeviceCount(&count));
  EXPECT_EQ(count, 8u);
  int32_t device = -1, active = -1;
  EXPECT_OK(aclrtGetDevice(&device));
  EXPECT_EQ(device, 0);
  uint32_t flags = 7;
  EXPECT_OK(aclrtGetPrimaryCtxState(0, &flags, &active));
  EXPECT_EQ(active, 1);
  EXPECT_EQ(flags, 0u);
  aclrtContext before = nullptr, made = nullptr, current = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&before));
  EXPECT_OK(aclrtCreateContext(&made, 2));
  EXPECT_OK(aclrtGetCurrentContext(&current));
  EXPECT_EQ(current, made);
  EXPECT_OK(aclrtGetDevice(&device));
  EXPECT_EQ(device, 2);
  EXPECT_OK(aclrtSetCurrentContext(before));
  EXPECT_OK(aclrtDestroyContext(made));
  int32_t peer = -1;
  EXPECT_OK(aclrtDeviceCanAccessPeer(&peer, 0, 1));
  EXPECT_EQ(peer, 1);
  EXPECT_OK(aclrtDeviceCanAccessPeer(&peer, 1, 1));
  EXPECT_EQ(peer, 0);
  EXPECT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  std::thread([] {
    int32_t none = -1;
    EXPECT_EQ(aclrtGetDevice(&none), ACL_ERROR_RT_CONTEXT_NULL);
  }).join();
}

TEST_F(Runtime, MemoryIsCountedAndFound) {
  size_t free = 0, total = 0;
  const uint64_t before = device::counters(0).used;
  {
    Memory a(1 << 20);
    const uint64_t used = device::counters(0).used;
    EXPECT_EQ(used - before, uint64_t{1} << 20);
    EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    EXPECT_LE(free, total - used);  // less where the machine has less
    aclrtPtrAttributes where{};
    EXPECT_OK(aclrtPointerGetAttributes(a.at(5), &where));
    EXPECT_EQ(where.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_OK(aclrtPointerGetAttributes(&where, &where));
    EXPECT_EQ(where.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    EXPECT_OK(aclrtMemFlush(a.get(), a.bytes()));
  }
}

TEST_F(Runtime, StreamsAndEvents) {
  OwnStream a, b;
  int32_t id_a = 0, id_b = 0;
  EXPECT_OK(aclrtStreamGetId(a, &id_a));
  EXPECT_OK(aclrtStreamGetId(b, &id_b));
  EXPECT_NE(id_a, id_b);
  aclrtEvent start = nullptr, end = nullptr;
  ASSERT_OK(aclrtCreateEventExWithFlag(&start, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
  ASSERT_OK(aclrtCreateEvent(&end));
  EXPECT_OK(aclrtRecordEvent(start, a));
  EXPECT_OK(aclrtStreamWaitEvent(b, start));
  EXPECT_OK(aclrtRecordEvent(end, b));
  EXPECT_OK(aclrtSynchronizeEvent(end));
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_OK(aclrtQueryEventStatus(end, &recorded));
  EXPECT_EQ(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  aclrtEventStatus status = ACL_EVENT_STATUS_NOT_READY;
  EXPECT_OK(aclrtQueryEvent(end, &status));
  EXPECT_EQ(status, ACL_EVENT_STATUS_COMPLETE);
  EXPECT_OK(aclrtSynchronizeStream(b));
  aclrtEventWaitStatus waits = ACL_EVENT_WAIT_STATUS_NOT_READY;
  EXPECT_OK(aclrtQueryEventWaitStatus(start, &waits));
  EXPECT_EQ(waits, ACL_EVENT_WAIT_STATUS_COMPLETE);
  float ms = -1;
  EXPECT_OK(aclrtEventElapsedTime(&ms, start, end));
  EXPECT_GE(ms, 0);
  uint64_t first = 0, second = 0;
  EXPECT_OK(aclrtEventGetTimestamp(start, &first));
  EXPECT_OK(aclrtEventGetTimestamp(end, &second));
  EXPECT_LE(first, second);
  EXPECT_OK(aclrtResetEvent(end, b));
  aclrtStreamStatus idle = ACL_STREAM_STATUS_NOT_READY;
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(b, 1000));
  EXPECT_OK(aclrtStreamQuery(b, &idle));
  EXPECT_EQ(idle, ACL_STREAM_STATUS_COMPLETE);
  EXPECT_OK(aclrtDestroyEvent(start));
  EXPECT_OK(aclrtDestroyEvent(end));
  EXPECT_OK(aclrtSynchronizeDeviceWithTimeout(1000));
}

TEST_F(Runtime, CallbacksRunInTheSubscribedThread) {
  OwnStream stream;
  std::atomic<uint64_t> subscribed{0}, ran_in{0};
  std::atomic<bool> stop{false};
  std::thread reporter([&] {
    aclrtSetDevice(0);
    subscribed = pthread_self();
    while (!stop) aclrtProcessReport(10);
  });
  while (subscribed == 0) std::this_thread::yield();
  EXPECT_OK(aclrtSubscribeReport(subscribed, stream));
  auto note = [](void* place) { *static_cast<std::atomic<uint64_t>*>(place) = pthread_self(); };
  EXPECT_OK(aclrtLaunchCallback(note, &ran_in, ACL_CALLBACK_BLOCK, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(ran_in, subscribed);
  EXPECT_OK(aclrtUnSubscribeReport(subscribed, stream));
  stop = true;
  reporter.join();
}

TEST_F(Runtime, ModesAndOptionsAreGivenBack) {
  EXPECT_OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
  int64_t value = 0;
  EXPECT_OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  EXPECT_EQ(value, 1);
  EXPECT_OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2));
  EXPECT_OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  EXPECT_EQ(value, 2);
  EXPECT_EQ(aclGetCompileoptSize(ACL_OP_JIT_COMPILE), 8u);
  char text[8];
  EXPECT_OK(aclGetCompileopt(ACL_OP_JIT_COMPILE, text, sizeof text));
  EXPECT_STREQ(text, "disable") << "before anybody sets it";
  EXPECT_OK(aclSetCompileopt(ACL_OP_JIT_COMPILE, "enable"));
  EXPECT_OK(aclGetCompileopt(ACL_OP_JIT_COMPILE, text, sizeof text));
  EXPECT_STREQ(text, "enable");
  EXPECT_OK(aclSetCompileopt(ACL_OP_JIT_COMPILE, "disable"));
  EXPECT_OK(aclGetCompileopt(ACL_OP_JIT_COMPILE, text, sizeof text));
  EXPECT_STREQ(text, "disable");
  uint64_t limit = 0;
  EXPECT_OK(aclrtSetOpExecuteTimeOutV2(1234, &limit));
  EXPECT_EQ(limit, 1234u);
  aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_SATURATION;
  EXPECT_OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
  EXPECT_OK(aclrtGetDeviceSatMode(&mode));
  EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_INFNAN);
  OwnStream stream;
  uint32_t on = 7;
  EXPECT_OK(aclrtSetStreamOverflowSwitch(stream, 1));
  EXPECT_OK(aclrtGetStreamOverflowSwitch(stream, &on));
  EXPECT_EQ(on, 1u);
  EXPECT_OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
}

TEST_F(Runtime, MapsPhysicalMemory) {
  aclrtPhysicalMemProp prop{};
  prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  size_t unit = 0;
  ASSERT_OK(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &unit));
  void* range = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  ASSERT_OK(aclrtReserveMemAddress(&range, 4 * unit, 0, nullptr, 1));
  ASSERT_OK(aclrtMallocPhysical(&handle, unit, &prop, 0));
  ASSERT_OK(aclrtMapMem(range, unit, 0, handle, 0));
  EXPECT_OK(aclrtMemset(range, unit, 3, unit));
  uint8_t last = 0;
  EXPECT_OK(aclrtMemcpy(&last, 1, static_cast<uint8_t*>(range) + unit - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(last, 3);
  EXPECT_EQ(aclrtMemset(range, 2 * unit, 3, unit + 1), ACL_ERROR_RT_PARAM_INVALID);
  uint64_t number = 0;
  EXPECT_OK(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 1, &number));
  int32_t pid = 0;
  EXPECT_OK(aclrtDeviceGetBareTgid(&pid));
  EXPECT_OK(aclrtMemSetPidToShareableHandle(number, &pid, 1));
  uint64_t again = 0;
  EXPECT_OK(aclrtMemExportToShareableHandleV2(handle, 1, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &again));
  EXPECT_EQ(again, number);
  EXPECT_EQ(aclrtMemExportToShareableHandleV2(handle, 0, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &again), 207000);
  EXPECT_OK(aclrtMemSetPidToShareableHandleV2(&again, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &pid, 1));
  aclrtDrvMemHandle imported = nullptr, retained = nullptr;
  EXPECT_EQ(aclrtMemImportFromShareableHandleV2(&again, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 1, &imported), 107000);
  EXPECT_OK(aclrtMemImportFromShareableHandleV2(&again, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &imported));
  EXPECT_OK(aclrtMapMem(static_cast<uint8_t*>(range) + unit, unit, 0, imported, 0));
  EXPECT_OK(aclrtMemcpy(&last, 1, static_cast<uint8_t*>(range) + unit, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(last, 3);
  EXPECT_OK(aclrtUnmapMem(static_cast<uint8_t*>(range) + unit));
  EXPECT_OK(aclrtFreePhysical(imported));
  aclrtMemAccessDesc access{ACL_RT_MEM_ACCESS_FLAGS_READWRITE, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {}};
  EXPECT_OK(aclrtMemSetAccess(range, unit, &access, 1));
  EXPECT_EQ(aclrtMemSetAccess(range, unit / 2, &access, 1), 107000);
  access.location.id = 1;
  EXPECT_EQ(aclrtMemSetAccess(range, unit, &access, 1), 207000);
  access.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
  EXPECT_EQ(aclrtMemSetAccess(range, unit, &access, 1), 107000);
  EXPECT_OK(aclrtMemRetainAllocationHandle(static_cast<uint8_t*>(range) + 5, &retained));
  EXPECT_EQ(aclrtMemRetainAllocationHandle(static_cast<uint8_t*>(range) + unit, &retained), 107000);
  EXPECT_OK(aclrtUnmapMem(range));
  EXPECT_OK(aclrtFreePhysical(handle));
  EXPECT_OK(aclrtMapMem(range, unit, 0, retained, 0));
  EXPECT_OK(aclrtMemcpy(&last, 1, range, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(last, 3) << "the memory lived on by the second handle";
  EXPECT_OK(aclrtUnmapMem(range));
  EXPECT_OK(aclrtFreePhysical(retained));
  EXPECT_OK(aclrtReleaseMemAddress(range));
}

TEST_F(Runtime, AnAbortedStreamDropsItsWorkAndGoesOn) {
  static std::atomic<int> state;
  state = 0;
  OwnStream stream;
  Memory memory(4);
  EXPECT_OK(aclrtMemset(memory.get(), 4, 1, 4));
  EXPECT_OK(aclrtLaunchHostFunc(
      stream,
      [](void*) {
        state = 1;
        while (state != 2) std::this_thread::yield();
      },
      nullptr));
  EXPECT_OK(aclrtMemsetAsync(memory.get(), 4, 9, 4, stream));
  while (state != 1) std::this_thread::yield();
  std::thread waits([&] {
    const aclError code = aclrtSynchronizeStream(stream);
    EXPECT_TRUE(code == 500001 || code == 0) << code << ": 0 where it began to wait after the abort";
  });
  std::thread ends([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    state = 2;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_OK(aclrtStreamAbort(stream));
  waits.join();
  ends.join();
  EXPECT_EQ(memory.read(), std::vector<uint8_t>(4, 1)) << "what had not begun was dropped";
  EXPECT_OK(aclrtMemsetAsync(memory.get(), 4, 5, 4, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(memory.read(), std::vector<uint8_t>(4, 5));
  EXPECT_EQ(aclrtStreamAbort(nullptr), 107017);
}

TEST_F(Runtime, DevicesHaveTheirNumbersOnTheMachine) {
  int32_t number = -1;
  EXPECT_OK(aclrtGetPhyDevIdByLogicDevId(0, &number));
  EXPECT_EQ(number, 0) << "ASCEND_RT_VISIBLE_DEVICES is not set";
  EXPECT_EQ(aclrtGetPhyDevIdByLogicDevId(1000, &number), 107001);
  EXPECT_EQ(aclrtGetPhyDevIdByLogicDevId(0, nullptr), 100000);
}

TEST_F(Runtime, LastErrorIsKeptPerThread) {
  EXPECT_EQ(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
  std::thread([] {
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 0);
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  }).join();
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0);
  EXPECT_STRNE(aclGetRecentErrMsg(), "");
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST_F(Runtime, LastErrorIsThatOfAclnnToo) {
  EXPECT_EQ(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_NE(aclDestroyTensor(reinterpret_cast<aclTensor*>(16)), 0);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACLNN_ERR_PARAM_INVALID);
}

TEST(Config, DefaultDeviceAsTextOrNumber) {
  EXPECT_EQ(parse_config(R"({"defaultDevice":{"default_device":"3"}})", "x").default_device, 3);
  EXPECT_EQ(parse_config(R"({"defaultDevice":{"default_device":2}})", "x").default_device, 2);
  EXPECT_EQ(parse_config(R"({"dump":{"dump_scene":"lite_exception"}})", "x").default_device, -1);
  EXPECT_EQ(parse_config("{}", "x").default_device, -1);
  EXPECT_EQ(parse_config("{ // ours\n\"defaultDevice\": {\"default_device\": 3,},}", "x").default_device, 3);
}

int code_of(const std::string& text) {
  try {
    parse_config(text, "x");
  } catch (const Error& error) {
    return static_cast<int>(error.code());
  }
  return 0;
}

TEST(Config, BadFilesAreRefused) {
  EXPECT_EQ(code_of(""), ACL_ERROR_PARSE_FILE);
  EXPECT_EQ(code_of("[]"), ACL_ERROR_PARSE_FILE);
  EXPECT_EQ(code_of(std::string(100000, '[')), ACL_ERROR_PARSE_FILE);
  EXPECT_EQ(code_of(R"({"defaultDevice":{"default_device":"x"}})"), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(code_of(R"({"dump":{"dump_list":[{"model_name":"m"}]}})"), ACL_ERROR_INVALID_DUMP_CONFIG);
  EXPECT_EQ(code_of(R"({"dump":{"dump_op_switch":"on","dump_path":"/tmp","dump_mode":"some"}})"),
            ACL_ERROR_INVALID_DUMP_CONFIG);
  EXPECT_EQ(code_of(R"({"dump":{"dump_list":[{"layer":"conv"}],"dump_path":"/tmp"}})"), ACL_ERROR_INVALID_DUMP_CONFIG);
  EXPECT_EQ(code_of(R"({"dump":{"dump_debug":"on","dump_path":"/tmp","dump_list":[{}]}})"),
            ACL_ERROR_INVALID_DUMP_CONFIG);
  EXPECT_EQ(code_of(R"({"dump":{"dump_debug":"on","dump_path":"/tmp","dump_op_switch":"on"}})"),
            ACL_ERROR_INVALID_DUMP_CONFIG);
  EXPECT_EQ(code_of(R"({"dump":{"dump_debug":"on"}})"), ACL_ERROR_INVALID_DUMP_CONFIG);
  EXPECT_EQ(code_of(R"({"dump":{"enable_exception_dump":3}})"), ACL_ERROR_INVALID_DUMP_CONFIG);
}

TEST(Config, ADumpIsReadWithItsGraphsAndLayers) {
  EXPECT_FALSE(parse_config(R"({"dump":{"dump_list":[],"dump_op_switch":"off","dump_path":"/tmp"}})", "x").dump);
  const auto all = parse_config(R"({"dump":{"dump_list":[{}],"dump_path":"/tmp","dump_mode":"all"}})", "x").dump;
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->graphs && all->inputs && all->outputs && all->models.empty() && all->layers.empty());
  EXPECT_FALSE(all->single_operators);
  const auto some = parse_config(R"({"dump":{"dump_list":[{"model_name":"m","layer":["a","b"]}],"dump_path":"/tmp",
      "dump_op_switch":"on","dump_data":"stats","dump_mode":"input","dump_step":"2-4"}})",
                                 "x")
                        .dump;
  ASSERT_TRUE(some);
  EXPECT_EQ(some->models.at("m"), (graph::DumpConfig::Names{"a", "b"}));
  EXPECT_TRUE(some->statistics && some->inputs && !some->outputs && some->single_operators);
  EXPECT_TRUE(some->steps.contains(3) && !some->steps.contains(5));
}

TEST(Config, OverflowsAndFailuresAreDumpedWithoutAList) {
  const auto dump = parse_config(R"({"dump":{"dump_debug":"on","dump_path":"/tmp"}})", "x").dump;
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->overflows, graph::Overflows::kAll);
  EXPECT_TRUE(dump->graphs && dump->single_operators);
  const auto sums =
      parse_config(R"({"dump":{"dump_debug":"on","dump_debug_mode":"atomic_overflow","dump_path":"/tmp"}})", "x");
  EXPECT_EQ(sums.dump->overflows, graph::Overflows::kAtomic);
  EXPECT_FALSE(sums.dump_failures);
  const Config failures = parse_config(R"({"dump":{"enable_exception_dump":1}})", "x");
  EXPECT_TRUE(failures.dump_failures && !failures.dump);
}

TEST(Config, AKeyOfADumpThatHasNoEffectIsTold) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(parse_config(R"({"dump":{"dump_level":"kernel","dump_list":[]}})", "level.json").dump);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("configPath level.json: dump.dump_level has no effect; known are dump_path, "), std::string::npos)
      << told;
}

TEST(Dumps, ComeBetweenInitAndFinalize) {
  EXPECT_EQ(aclmdlSetDump("x.json"), ACL_ERROR_DUMP_NOT_RUN);
  EXPECT_EQ(aclmdlFinalizeDump(), ACL_ERROR_DUMP_NOT_RUN);
  EXPECT_EQ(aclmdlInitDump(), ACL_SUCCESS);
  EXPECT_EQ(aclmdlInitDump(), ACL_ERROR_DUMP_ALREADY_RUN);
  EXPECT_EQ(aclmdlSetDump("there/is/none.json"), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclmdlFinalizeDump(), ACL_SUCCESS);
}

TEST_F(Runtime, OptionsOfACompilerThatIsNotThereAreLoggedOnce) {
  setenv("ASCEND_SLOG_PRINT_TO_STDOUT", "1", 1);
  setenv("ASCEND_GLOBAL_LOG_LEVEL", "2", 1);
  log_reset();
  testing::internal::CaptureStdout();
  for (int i = 0; i < 2; ++i) EXPECT_OK(aclSetCompileopt(ACL_OP_COMPILER_CACHE_DIR, "/tmp/cache"));
  EXPECT_OK(aclSetCompileopt(ACL_OP_PRECISION_MODE, "must_keep_origin_dtype"));
  const std::string told = testing::internal::GetCapturedStdout();
  unsetenv("ASCEND_SLOG_PRINT_TO_STDOUT");
  unsetenv("ASCEND_GLOBAL_LOG_LEVEL");
  log_reset();
  EXPECT_EQ(std::ranges::count(told, '\n'), 1) << told;
  EXPECT_NE(told.find("option 8 changes nothing: operators are called as they are"), std::string::npos) << told;
  char text[16];
  EXPECT_OK(aclGetCompileopt(ACL_OP_COMPILER_CACHE_DIR, text, sizeof text));
  EXPECT_STREQ(text, "/tmp/cache");
}

TEST(Config, WhatIsNotBuiltButHarmlessIsToldOnce) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) parse_config(R"({"op_debug_config":{"enable_debug_kernel":"on"}})", "told.json");
  parse_config(R"({"profiler":{"switch":"off"},"op_debug_config":{"enable_debug_kernel":"off"}})", "off.json");
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(told, '\n'), 1) << told;
  EXPECT_NE(told.find("configPath told.json: op_debug_config.enable_debug_kernel"), std::string::npos) << told;
}

TEST(Profiling, HashIsStableAndTimeMonotonic) {
  EXPECT_EQ(MsprofGetHashId("aclnnAdd", 8), 1765803163520647787u);
  EXPECT_NE(MsprofGetHashId("aclnnAdd", 8), MsprofGetHashId("aclnnAdd", 7));
  EXPECT_EQ(MsprofGetHashId(nullptr, 8), 0u);
  uint64_t last = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t now = MsprofSysCycleTime();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(Profiling, RecordsAreCounted) {
  const RecordCounts before = record_counts();
  const char record[16] = {};
  EXPECT_EQ(MsprofReportApi(1, record), 0);
  EXPECT_EQ(MsprofReportCompactInfo(1, record, sizeof record), 0);
  EXPECT_EQ(MsprofReportAdditionalInfo(0, record, sizeof record), 0);
  EXPECT_EQ(record_counts().api, before.api + 1);
  EXPECT_EQ(record_counts().compact, before.compact + 1);
  EXPECT_EQ(record_counts().additional, before.additional + 1);
  EXPECT_EQ(record_counts().bytes, before.bytes + 32);
  EXPECT_EQ(MsprofReportApi(1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(MsprofRegisterCallback(3, [](uint32_t, void*, uint32_t) { return 0; }), 0);
}

TEST(Log, TakesPrintfFormats) {
  aclAppLog(ACL_DEBUG, nullptr, nullptr, 1, "%s %d", "text", 3);
  aclAppLog(static_cast<aclLogLevel>(99), "f", "file", 1, nullptr);
}

}  // namespace
}  // namespace npu::acl
