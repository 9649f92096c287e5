// SPDX-License-Identifier: Apache-2.0
// Wrong calls on the C interface: each answers the right code and a text that names the function, the argument, what
// was got and what to do; the process lives, and the next call is right.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "acl/include/acl/acl_mdl.h"
#include "acl/include/acl/acl_prof.h"
#include "acl/runtime/runtime_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_neg.h"
#include "anynpu/dump.h"
#include "anynpu/error.h"

namespace npu::acl {
namespace {

struct WrongCall {
  const char* what;
  int code;
  std::vector<const char*> words;  ///< parts of the text
  std::function<int()> call;
};

void* const kWild = reinterpret_cast<void*>(0x10);

/// What the calls below need: live and dead objects of every kind.
struct Objects {
  Memory memory{64};
  std::vector<std::byte> host = std::vector<std::byte>(64);
  void* freed = nullptr;
  aclrtStream stream = nullptr, dead_stream = nullptr;
  aclrtEvent event = nullptr, dead_event = nullptr, unrecorded = nullptr, untimed = nullptr;
  aclrtContext dead_context = nullptr;
  void* pinned = nullptr;

  Objects() {
    EXPECT_OK(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_OK(aclrtFree(freed));
    EXPECT_OK(aclrtCreateStream(&stream));
    EXPECT_OK(aclrtCreateStream(&dead_stream));
    EXPECT_OK(aclrtDestroyStream(dead_stream));
    for (aclrtEvent* e : {&event, &dead_event, &unrecorded}) EXPECT_OK(aclrtCreateEvent(e));
    EXPECT_OK(aclrtCreateEventWithFlag(&untimed, ACL_EVENT_SYNC));
    EXPECT_OK(aclrtDestroyEvent(dead_event));
    EXPECT_OK(aclrtRecordEvent(event, stream));
    EXPECT_OK(aclrtSynchronizeEvent(event));
    EXPECT_OK(aclrtCreateContext(&dead_context, 0));
    EXPECT_OK(aclrtDestroyContext(dead_context));
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtMallocHost(&pinned, 64));
  }
  ~Objects() {
    EXPECT_OK(aclrtFreeHost(pinned));
    for (aclrtEvent e : {event, unrecorded, untimed}) EXPECT_OK(aclrtDestroyEvent(e));
    EXPECT_OK(aclrtDestroyStream(stream));
  }
};

/// A call after the wrong one: memory, a copy and a stream still do their work.
void expect_next_call_right(const Objects& o) {
  uint8_t byte = 0;
  EXPECT_OK(aclrtMemsetAsync(o.memory.get(), 64, 7, 64, o.stream));
  EXPECT_OK(aclrtMemcpyAsync(&byte, 1, o.memory.at(63), 1, ACL_MEMCPY_DEVICE_TO_HOST, o.stream));
  EXPECT_EQ(byte, 7);
}

void expect_refused(const std::vector<WrongCall>& calls, const Objects& o) {
  for (const WrongCall& wrong : calls) {
    SCOPED_TRACE(wrong.what);
    EXPECT_EQ(wrong.call(), wrong.code);
    const std::string text = aclGetRecentErrMsg();
    for (const char* word : wrong.words) EXPECT_NE(text.find(word), std::string::npos) << text;
    EXPECT_GT(text.size(), 20u) << text;
    EXPECT_EQ(text.find("aclrt::"), std::string::npos);
    expect_next_call_right(o);
  }
}

using WrongCalls = OnDevice;

TEST_F(WrongCalls, DevicesAndContexts) {
  const Objects o;
  int32_t number = 0;
  uint32_t flags = 0;
  int64_t value = 0;
  expect_refused(
      {
          {"device -1", 107001, {"[aclrtSetDevice]", "-1"}, [] { return aclrtSetDevice(-1); }},
          {"device 99", 107001, {"[aclrtSetDevice]", "99"}, [] { return aclrtSetDevice(99); }},
          {"reset of device 8", 107001, {"[aclrtResetDevice]", "8"}, [] { return aclrtResetDevice(8); }},
          {"null result", 100000, {"[aclrtGetDevice]", "deviceId is null"}, [] { return aclrtGetDevice(nullptr); }},
          {"null count", 100000, {"count is null"}, [] { return aclrtGetDeviceCount(nullptr); }},
          {"peer 77", 107001, {"77"}, [&] { return aclrtDeviceCanAccessPeer(&number, 0, 77); }},
          {"peer flags", 107000, {"flags is 5"}, [] { return aclrtDeviceEnablePeerAccess(1, 5); }},
          {"state of device -2", 107001, {"-2"}, [&] { return aclrtGetPrimaryCtxState(-2, &flags, &number); }},
          {"wild context", 107017, {"[aclrtSetCurrentContext]"}, [] { return aclrtSetCurrentContext(kWild); }},
          {"null context", 107017, {"[aclrtSetCurrentContext]"}, [] { return aclrtSetCurrentContext(nullptr); }},
          {"dead context", 107017, {"destroyed"}, [&] { return aclrtSetCurrentContext(o.dead_context); }},
          {"context destroyed twice", 107017, {"context"}, [&] { return aclrtDestroyContext(o.dead_context); }},
          {"stream as context", 107017, {"stream"}, [&] { return aclrtSetCurrentContext(o.stream); }},
          {"default context destroyed",
           107000,
           {"default"},
           [] {
             aclrtContext current = nullptr;
             aclrtGetCurrentContext(&current);
             return aclrtDestroyContext(current);
           }},
          {"context on device 50",
           107001,
           {"50"},
           [] {
             aclrtContext made = nullptr;
             return aclrtCreateContext(&made, 50);
           }},
          {"unknown attribute",
           107000,
           {"attr is 12345"},
           [&] { return aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(12345), &value); }},
          {"unknown capability",
           100000,
           {"deviceInfo is 9"},
           [&] { return aclGetDeviceCapability(0, static_cast<aclDeviceInfo>(9), &value); }},
          {"unknown feature",
           100000,
           {"cannAttr is 42"},
           [&] { return aclGetCannAttribute(static_cast<aclCannAttr>(42), &number); }},
          {"timeout -7", 107000, {"timeout is -7"}, [] { return aclrtSynchronizeDeviceWithTimeout(-7); }},
          {"core -1", 107000, {"tsId is -1"}, [] { return aclrtSetTsDevice(static_cast<aclrtTsId>(-1)); }},
      },
      o);
}

TEST_F(WrongCalls, TheReasonIsToldWithoutTheFunction) {
  const int code = aclrtSetDevice(-7);
  const std::string whole = aclGetRecentErrMsg();
  EXPECT_STREQ(anynpu_recent_reason(), "") << "reading clears both";
  EXPECT_EQ(aclrtSetDevice(-7), code);
  const std::string reason = anynpu_recent_reason();
  EXPECT_EQ(whole, "[aclrtSetDevice] " + reason);
  EXPECT_NE(reason.find("-7"), std::string::npos);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST_F(WrongCalls, StreamsEventsAndCallbacks) {
  const Objects o;
  float ms = 0;
  aclrtEvent event = nullptr;
  aclrtStream stream = nullptr;
  aclrtStreamStatus status;
  aclrtEventRecordedStatus recorded;
  auto nothing = [](void*) {};
  expect_refused(
      {
          {"wild stream", 107017, {"[aclrtSynchronizeStream]"}, [] { return aclrtSynchronizeStream(kWild); }},
          {"dead stream", 107017, {"destroyed"}, [&] { return aclrtSynchronizeStream(o.dead_stream); }},
          {"stream destroyed twice",
           107017,
           {"[aclrtDestroyStream]"},
           [&] { return aclrtDestroyStream(o.dead_stream); }},
          {"null stream destroyed", 107000, {"[aclrtDestroyStream]"}, [] { return aclrtDestroyStream(nullptr); }},
          {"event as stream", 107017, {"event"}, [&] { return aclrtSynchronizeStream(o.event); }},
          {"null result", 100000, {"stream is null"}, [] { return aclrtCreateStream(nullptr); }},
          {"priority 8", 107000, {"8"}, [&] { return aclrtCreateStreamWithConfig(&stream, 8, 0); }},
          {"stream flag", 107000, {"0x80"}, [&] { return aclrtCreateStreamWithConfig(&stream, 0, 0x80); }},
          {"null status", 100000, {"status is null"}, [&] { return aclrtStreamQuery(o.stream, nullptr); }},
          {"query of a dead stream", 107017, {"stream"}, [&] { return aclrtStreamQuery(o.dead_stream, &status); }},
          {"failure mode 2", 107000, {"mode is 2"}, [&] { return aclrtSetStreamFailureMode(o.stream, 2); }},
          {"overflow switch 3", 107000, {"flag is 3"}, [&] { return aclrtSetStreamOverflowSwitch(o.stream, 3); }},
          {"timeout -3", 107000, {"-3"}, [&] { return aclrtSynchronizeStreamWithTimeout(o.stream, -3); }},
          {"wild event", 107017, {"[aclrtRecordEvent]"}, [&] { return aclrtRecordEvent(kWild, o.stream); }},
          {"dead event", 107017, {"destroyed"}, [&] { return aclrtRecordEvent(o.dead_event, o.stream); }},
          {"null event", 107017, {"null"}, [&] { return aclrtStreamWaitEvent(o.stream, nullptr); }},
          {"event destroyed twice", 107017, {"event"}, [&] { return aclrtDestroyEvent(o.dead_event); }},
          {"event flag", 107000, {"flag is 0x100"}, [&] { return aclrtCreateEventWithFlag(&event, 0x100); }},
          {"shared event",
           207000,
           {"aclrtCreateEventExWithFlag"},
           [&] { return aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC); }},
          {"stream as event", 107017, {"stream"}, [&] { return aclrtQueryEventStatus(o.stream, &recorded); }},
          {"never recorded",
           107006,
           {"[aclrtEventElapsedTime]"},
           [&] { return aclrtEventElapsedTime(&ms, o.unrecorded, o.event); }},
          {"no time stamp",
           107006,
           {"[aclrtEventElapsedTime]"},
           [&] { return aclrtEventElapsedTime(&ms, o.event, o.untimed); }},
          {"callback without thread",
           100034,
           {"[aclrtLaunchCallback]"},
           [&] { return aclrtLaunchCallback(nothing, nullptr, ACL_CALLBACK_BLOCK, o.stream); }},
          {"null callback",
           100000,
           {"fn is null"},
           [&] { return aclrtLaunchCallback(nullptr, nullptr, ACL_CALLBACK_BLOCK, o.stream); }},
          {"block type 7",
           107000,
           {"blockType is 7"},
           [&] { return aclrtLaunchCallback(nothing, nullptr, static_cast<aclrtCallbackBlockType>(7), o.stream); }},
          {"not subscribed", 100034, {"[aclrtUnSubscribeReport]"}, [&] { return aclrtUnSubscribeReport(1, o.stream); }},
          {"null host function",
           100000,
           {"func is null"},
           [&] { return aclrtLaunchHostFunc(o.stream, nullptr, nullptr); }},
      },
      o);
}

TEST_F(WrongCalls, Memory) {
  const Objects o;
  void* place = nullptr;
  size_t free = 0, total = 0;
  int on_stack = 0;
  expect_refused(
      {
          {"null result",
           100000,
           {"devPtr is null"},
           [] { return aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST); }},
          {"size 0", 100000, {"size is 0"}, [&] { return aclrtMalloc(&place, 0, ACL_MEM_MALLOC_HUGE_FIRST); }},
          {"policy 99",
           107000,
           {"policy is 99"},
           [&] { return aclrtMalloc(&place, 8, static_cast<aclrtMemMallocPolicy>(99)); }},
          {"far too much",
           207001,
           {"[aclrtMalloc]"},
           [&] { return aclrtMalloc(&place, size_t{1} << 60, ACL_MEM_MALLOC_HUGE_FIRST); }},
          {"size SIZE_MAX",
           207001,
           {"[aclrtMalloc]"},
           [&] { return aclrtMalloc(&place, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST); }},
          {"freed twice", 107000, {"[aclrtFree]"}, [&] { return aclrtFree(o.freed); }},
          {"free of null", 100000, {"devPtr is null"}, [] { return aclrtFree(nullptr); }},
          {"free of host memory", 107000, {"[aclrtFree]", "host"}, [&] { return aclrtFree(&on_stack); }},
          {"free inside a block", 107000, {"[aclrtFree]"}, [&] { return aclrtFree(o.memory.at(8)); }},
          {"free of a wild address", 107000, {"[aclrtFree]"}, [] { return aclrtFree(kWild); }},
          {"host free of device memory", 107000, {"[aclrtFreeHost]"}, [&] { return aclrtFreeHost(o.memory.get()); }},
          {"host memory of size 0", 100000, {"size is 0"}, [&] { return aclrtMallocHost(&place, 0); }},
          {"far too much host memory",
           207001,
           {"[aclrtMallocHost]"},
           [&] { return aclrtMallocHost(&place, size_t{1} << 60); }},
          {"memory kind 50",
           107000,
           {"attr is 50"},
           [&] { return aclrtGetMemInfo(static_cast<aclrtMemAttr>(50), &free, &total); }},
          {"null total", 100000, {"total is null"}, [&] { return aclrtGetMemInfo(ACL_HBM_MEM, &free, nullptr); }},
      },
      o);
}

TEST_F(WrongCalls, CopiesAndFills) {
  const Objects o;
  void *dev = o.memory.get(), *host = const_cast<std::byte*>(o.host.data());
  const auto h2d = ACL_MEMCPY_HOST_TO_DEVICE;
  const auto d2h = ACL_MEMCPY_DEVICE_TO_HOST;
  expect_refused(
      {
          {"null dst", 100000, {"[aclrtMemcpy]", "dst is null"}, [&] { return aclrtMemcpy(nullptr, 8, host, 8, h2d); }},
          {"null src", 100000, {"src is null"}, [&] { return aclrtMemcpy(dev, 8, nullptr, 8, h2d); }},
          {"count past destMax",
           107000,
           {"count is 9", "destMax = 8"},
           [&] { return aclrtMemcpy(dev, 8, host, 9, h2d); }},
          {"kind 9",
           107000,
           {"kind is 9"},
           [&] { return aclrtMemcpy(dev, 8, host, 8, static_cast<aclrtMemcpyKind>(9)); }},
          {"kind -1",
           107000,
           {"kind is -1"},
           [&] { return aclrtMemcpy(dev, 8, host, 8, static_cast<aclrtMemcpyKind>(-1)); }},
          {"host given as device", 107000, {"dst", "host"}, [&] { return aclrtMemcpy(host, 8, o.pinned, 8, h2d); }},
          {"device given as host",
           107000,
           {"src", "device memory", "ACL_MEMCPY_HOST_TO_DEVICE"},
           [&] { return aclrtMemcpy(dev, 8, dev, 8, h2d); }},
          {"device target given as host",
           107000,
           {"dst", "device memory"},
           [&] { return aclrtMemcpy(dev, 8, dev, 8, d2h); }},
          {"freed source", 107000, {"src", "freed"}, [&] { return aclrtMemcpy(host, 8, o.freed, 8, d2h); }},
          {"past the block's end", 107000, {"src"}, [&] { return aclrtMemcpy(host, 64, o.memory.at(1), 64, d2h); }},
          {"count SIZE_MAX", 107000, {"dst"}, [&] { return aclrtMemcpy(dev, SIZE_MAX, host, SIZE_MAX, h2d); }},
          {"wild host source", 107000, {"src", "0x10"}, [&] { return aclrtMemcpy(dev, 8, kWild, 8, h2d); }},
          {"wild host target", 107000, {"dst", "0x10"}, [&] { return aclrtMemcpy(kWild, 8, dev, 8, d2h); }},
          {"queued on a dead stream",
           107017,
           {"[aclrtMemcpyAsync]"},
           [&] { return aclrtMemcpyAsync(dev, 8, host, 8, h2d, o.dead_stream); }},
          {"queued past destMax",
           107000,
           {"count is 16"},
           [&] { return aclrtMemcpyAsync(dev, 8, host, 16, h2d, o.stream); }},
          {"fill of null", 100000, {"devPtr is null"}, [] { return aclrtMemset(nullptr, 8, 0, 8); }},
          {"fill past maxCount", 107000, {"maxCount = 4"}, [&] { return aclrtMemset(dev, 4, 0, 8); }},
          {"fill of ordinary host memory",
           107000,
           {"devPtr", "aclrtMallocHost"},
           [&] { return aclrtMemset(host, 8, 0, 8); }},
          {"fill past the end of page-locked memory",
           107000,
           {"devPtr", "65 bytes"},
           [&] { return aclrtMemsetAsync(o.pinned, 65, 0, 65, o.stream); }},
          {"fill past the block's end", 107000, {"devPtr"}, [&] { return aclrtMemsetAsync(dev, 65, 0, 65, o.stream); }},
      },
      o);
}

TEST_F(WrongCalls, RangesAndMappings) {
  const Objects o;
  void* range = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  uint64_t number = 0;
  aclrtPhysicalMemProp on_host{};
  aclrtPhysicalMemProp prop{};
  prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtPhysicalMemProp far = prop;
  far.location.id = 64;
  expect_refused(
      {
          {"range of nothing",
           107000,
           {"[aclrtReserveMemAddress]"},
           [&] { return aclrtReserveMemAddress(&range, 0, 0, nullptr, 0); }},
          {"odd alignment", 107000, {"3"}, [&] { return aclrtReserveMemAddress(&range, 4096, 3, nullptr, 0); }},
          {"unknown range",
           107000,
           {"[aclrtReleaseMemAddress]"},
           [&] { return aclrtReleaseMemAddress(o.memory.get()); }},
          {"odd size",
           107000,
           {"[aclrtMallocPhysical]"},
           [&] { return aclrtMallocPhysical(&handle, 12345, &prop, 0); }},
          {"null prop", 100000, {"prop is null"}, [&] { return aclrtMallocPhysical(&handle, 2 << 20, nullptr, 0); }},
          {"on the host",
           107000,
           {"location.type is 0"},
           [&] { return aclrtMallocPhysical(&handle, 2 << 20, &on_host, 0); }},
          {"device 64", 107001, {"64"}, [&] { return aclrtMallocPhysical(&handle, 2 << 20, &far, 0); }},
          {"wild handle", 107017, {"[aclrtFreePhysical]"}, [] { return aclrtFreePhysical(kWild); }},
          {"mapped outside a range",
           107017,
           {"[aclrtMapMem]"},
           [&] { return aclrtMapMem(o.memory.get(), 2 << 20, 0, kWild, 0); }},
          {"nothing mapped", 107000, {"[aclrtUnmapMem]"}, [&] { return aclrtUnmapMem(o.memory.get()); }},
          {"number of nobody",
           107000,
           {"[aclrtMemImportFromShareableHandle]"},
           [&] { return aclrtMemImportFromShareableHandle(12345, 0, &handle); }},
          {"export of null",
           107017,
           {"[aclrtMemExportToShareableHandle]"},
           [&] { return aclrtMemExportToShareableHandle(nullptr, ACL_MEM_HANDLE_TYPE_NONE, 0, &number); }},
      },
      o);
}

TEST_F(WrongCalls, OptionsAndFiles) {
  const Objects o;
  char text[4];
  expect_refused(
      {
          {"unknown option", 107000, {"999"}, [] { return aclrtSetSysParamOpt(static_cast<aclSysParamOpt>(999), 1); }},
          {"null value", 100000, {"value is null"}, [] { return aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr); }},
          {"overflow mode 5",
           107000,
           {"5"},
           [] { return aclrtSetDeviceSatMode(static_cast<aclrtFloatOverflowMode>(5)); }},
          {"compile option 77",
           100000,
           {"opt is 77"},
           [] { return aclSetCompileopt(static_cast<aclCompileOpt>(77), "x"); }},
          {"null option text", 100000, {"value is null"}, [] { return aclSetCompileopt(ACL_OP_JIT_COMPILE, nullptr); }},
          {"text does not fit",
           100000,
           {"length is 4"},
           [&] {
             aclSetCompileopt(ACL_OP_DEBUG_OPTION, "longer");
             return aclGetCompileopt(ACL_OP_DEBUG_OPTION, text, sizeof text);
           }},
          {"no such file", 100003, {"/nowhere/acl.json"}, [] { return aclInit("/nowhere/acl.json"); }},
          {"a folder", 100003, {"[aclInit]", "/tmp"}, [] { return aclInit("/tmp"); }},
          {"null version",
           100000,
           {"version is null"},
           [] { return aclsysGetCANNVersion(ACL_PKG_NAME_CANN, nullptr); }},
          {"null package", 100000, {"pkgName is null"}, [&] { return aclsysGetVersionStr(nullptr, text); }},
          {"null record", 100000, {"record is null"}, [] { return MsprofReportApi(0, nullptr); }},
          {"record without bytes", 100000, {"length is 0"}, [&] { return MsprofReportCompactInfo(0, text, 0); }},
          {"dump too early", 100045, {"[aclmdlSetDump]", "aclmdlInitDump"}, [] { return aclmdlSetDump("x"); }},
          {"no dump to end", 100045, {"[aclmdlFinalizeDump]", "no dump"}, [] { return aclmdlFinalizeDump(); }},
          {"dump of nothing", 100009, {"asks for no dump"}, [] { return anynpu_dump_start("{}"); }},
      },
      o);
}

/// A 2-d float tensor over device memory.
struct Matrix {
  Memory memory;
  aclTensor* tensor;
  Matrix(int64_t rows, int64_t columns, aclDataType dtype = ACL_FLOAT)
      : memory(static_cast<size_t>(rows * columns) * 8) {
    const int64_t dims[] = {rows, columns};
    tensor = aclCreateTensor(dims, 2, dtype, nullptr, 0, ACL_FORMAT_ND, dims, 2, memory.get());
  }
  ~Matrix() { aclDestroyTensor(tensor); }
};

TEST_F(WrongCalls, AclnnFunctions) {
  const Objects o;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  Matrix a(2, 3), b(2, 3), wide(4, 5), out(2, 3), square(2, 2);
  double one = 1;
  aclScalar* alpha = aclCreateScalar(&one, ACL_DOUBLE);
  const int64_t dims[] = {2, 3};
  void* gone = nullptr;  // freed last, so that no block above has its address
  ASSERT_OK(aclrtMalloc(&gone, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_OK(aclrtFree(gone));
  aclTensor* freed = aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, gone);
  aclTensor* host =
      aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, const_cast<std::byte*>(o.host.data()));
  aclTensor* beyond = aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 100, ACL_FORMAT_ND, dims, 2, a.memory.get());
  auto add = [&](const aclTensor* x, const aclTensor* y, const aclTensor* z) {
    return aclnnAddGetWorkspaceSize(x, y, alpha, const_cast<aclTensor*>(z), &size, &executor);
  };
  auto* foreign = reinterpret_cast<const aclTensor*>(alpha);
  const std::vector<WrongCall> calls{
      {"null input", 161001, {"[aclnnAdd]", "self is null"}, [&] { return add(nullptr, b.tensor, out.tensor); }},
      {"null output", 161001, {"out is null"}, [&] { return add(a.tensor, b.tensor, nullptr); }},
      {"null matrix",
       161001,
       {"[aclnnMm]", "mat2 is null"},
       [&] { return aclnnMmGetWorkspaceSize(a.tensor, nullptr, out.tensor, 0, &size, &executor); }},
      {"null size",
       161001,
       {"workspaceSize is null"},
       [&] { return aclnnNegGetWorkspaceSize(a.tensor, out.tensor, nullptr, &executor); }},
      {"null executor",
       161001,
       {"executor is null"},
       [&] { return aclnnNegGetWorkspaceSize(a.tensor, out.tensor, &size, nullptr); }},
      {"shapes that do not broadcast",
       161002,
       {"[aclnnAdd]", "4x5"},
       [&] { return add(a.tensor, wide.tensor, out.tensor); }},
      {"output of another shape",
       161002,
       {"[aclnnAdd]", "2x2"},
       [&] { return add(a.tensor, b.tensor, square.tensor); }},
      {"freed memory", 161002, {"self", "freed"}, [&] { return add(freed, b.tensor, out.tensor); }},
      {"host memory", 161002, {"other", "host"}, [&] { return add(a.tensor, host, out.tensor); }},
      {"view past the block", 161002, {"self"}, [&] { return add(beyond, b.tensor, out.tensor); }},
      {"scalar as tensor", 161002, {"not alive"}, [&] { return add(foreign, b.tensor, out.tensor); }},
      {"wild tensor", 161002, {"not alive"}, [&] { return add(static_cast<aclTensor*>(kWild), b.tensor, out.tensor); }},
      {"inner sizes differ",
       161002,
       {"[aclnnMm]", "2x3"},
       [&] { return aclnnMmGetWorkspaceSize(a.tensor, b.tensor, square.tensor, 0, &size, &executor); }},
      {"executor null", 561103, {"executor is null"}, [] { return aclnnAdd(nullptr, 0, nullptr, nullptr); }},
      {"executor wild",
       561103,
       {"not alive"},
       [] { return aclnnAdd(nullptr, 0, static_cast<aclOpExecutor*>(kWild), nullptr); }},
      {"executor used twice",
       561103,
       {"used"},
       [&] {
         EXPECT_OK(add(a.tensor, b.tensor, out.tensor));
         EXPECT_OK(aclnnAdd(nullptr, 0, executor, o.stream));
         return aclnnAdd(nullptr, 0, executor, o.stream);
       }},
      {"tensor destroyed twice",
       161002,
       {"[aclDestroyTensor]"},
       [&] {
         const int64_t sizes[] = {1};
         aclTensor* t = aclCreateTensor(sizes, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, sizes, 1, nullptr);
         EXPECT_OK(aclDestroyTensor(t));
         return aclDestroyTensor(t);
       }},
  };
  expect_refused(calls, o);
  // A dead stream: the executor is there for another one.
  ASSERT_OK(add(a.tensor, b.tensor, out.tensor));
  EXPECT_EQ(aclnnAdd(nullptr, 0, executor, o.dead_stream), 107017);
  EXPECT_OK(aclnnAdd(nullptr, 0, executor, o.stream));
  const int64_t negative[] = {-1};
  EXPECT_EQ(aclCreateTensor(negative, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, negative, 1, nullptr), nullptr);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("-1"), std::string::npos);
  for (aclTensor* t : {freed, host, beyond}) EXPECT_OK(aclDestroyTensor(t));
  aclDestroyScalar(alpha);
}

// ---- States of the process, each in a process of its own ----

/// 0 when `call` answers `code` with all `words`.
int refused(const std::function<int()>& call, int code, const std::vector<const char*>& words) {
  const int got = call();
  const std::string text = aclGetRecentErrMsg();
  bool all = got == code;
  for (const char* word : words) all = all && text.find(word) != std::string::npos;
  if (!all) fprintf(stderr, "got %d, wanted %d: %s\n", got, code, text.c_str());
  return all ? 0 : 1;
}

int after_finalize() {
  int wrong = refused([] { return aclFinalize(); }, 100001, {"[aclFinalize]"});
  aclInit(nullptr);
  aclrtSetDevice(0);
  void *kept = nullptr, *more = nullptr;
  aclrtMalloc(&kept, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  wrong += refused([] { return aclInit(nullptr); }, 100002, {"[aclInit]"});
  aclFinalize();
  wrong += refused([] { return aclFinalize(); }, 100037, {"[aclFinalize]"});
  wrong += refused([&] { return aclrtMalloc(&more, 64, ACL_MEM_MALLOC_HUGE_FIRST); }, 100001, {"[aclrtMalloc]"});
  wrong += aclrtFree(kept) != 0;
  return wrong;
}

int out_of_memory() {
  setenv("ANYNPU_MEMORY", "256M", 1);
  aclrtSetDevice(0);
  void *most = nullptr, *more = nullptr;
  int wrong = aclrtMalloc(&most, 200 << 20, ACL_MEM_MALLOC_HUGE_FIRST) != 0;
  wrong += refused([&] { return aclrtMalloc(&more, 100 << 20, ACL_MEM_MALLOC_HUGE_FIRST); }, 207001,
                   {"[aclrtMalloc]", "ANYNPU_MEMORY"});
  wrong += aclrtFree(most) != 0;
  wrong += aclrtMalloc(&more, 100 << 20, ACL_MEM_MALLOC_HUGE_FIRST) != 0;
  return wrong;
}

int without_device() {
  void* place = nullptr;
  aclrtStream stream = nullptr;
  int32_t device = 0;
  int wrong = refused([&] { return aclrtGetDevice(&device); }, 107002, {"[aclrtGetDevice]", "aclrtSetDevice"});
  wrong += refused([&] { return aclrtMalloc(&place, 8, ACL_MEM_MALLOC_HUGE_FIRST); }, 107002, {"[aclrtMalloc]"});
  wrong += refused([&] { return aclrtCreateStream(&stream); }, 107002, {"[aclrtCreateStream]"});
  wrong += refused([] { return aclrtSynchronizeStream(nullptr); }, 107002, {"[aclrtSynchronizeStream]"});
  return wrong;
}

int after_fork() {
  aclrtSetDevice(0);
  void* place = nullptr;
  aclrtMalloc(&place, 8, ACL_MEM_MALLOC_HUGE_FIRST);
  const pid_t child = fork();
  if (child == 0) {
    int wrong = refused([&] { return aclrtMemset(place, 8, 0, 8); }, 100001, {"[aclrtMemset]", "fork"});
    wrong += refused([] { return aclrtSynchronizeDevice(); }, 100001, {"fork"});
    wrong += refused([&] { return aclrtFree(place); }, 100001, {"fork"});
    _exit(wrong);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return !WIFEXITED(status) + WEXITSTATUS(status) + (aclrtMemset(place, 8, 0, 8) != 0);
}

using NullPlaces = OnDevice;

TEST_F(NullPlaces, NothingIsMadeForNull) {
  aclrtContext before = nullptr, after = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&before));
  EXPECT_EQ(aclrtCreateContext(nullptr, 0), 100000);
  EXPECT_OK(aclrtGetCurrentContext(&after));
  EXPECT_EQ(before, after);
}

class WrongState : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(WrongState, AfterFinalize) { EXPECT_EXIT(exit(after_finalize()), ::testing::ExitedWithCode(0), ""); }
TEST_F(WrongState, OutOfMemory) { EXPECT_EXIT(exit(out_of_memory()), ::testing::ExitedWithCode(0), ""); }
TEST_F(WrongState, WithoutDevice) { EXPECT_EXIT(exit(without_device()), ::testing::ExitedWithCode(0), ""); }
TEST_F(WrongState, AfterFork) { EXPECT_EXIT(exit(after_fork()), ::testing::ExitedWithCode(0), ""); }

}  // namespace
}  // namespace npu::acl
