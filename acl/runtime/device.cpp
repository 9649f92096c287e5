// SPDX-License-Identifier: Apache-2.0
// Devices, contexts and what is reachable from where.
#include <unistd.h>

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "acl/profiling/option.h"
#include "acl/tuning/asked.h"
#include "device/context/context.h"
#include "device/process/soc.h"

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtSetDevice(int32_t deviceId) {
  return call("aclrtSetDevice", [&] {
    device::set_device(deviceId);
    profile_device(deviceId);
    tune_as_asked();
  });
}
aclError aclrtResetDevice(int32_t deviceId) {
  return call("aclrtResetDevice", [&] { device::reset_device(deviceId); });
}
aclError aclrtGetDevice(int32_t* deviceId) {
  // Clients ask whether a device is set at all.
  return ask("aclrtGetDevice", Code::kRtContextNull, [&] { result(deviceId, "deviceId") = device::get_device(); });
}
aclError aclrtGetDeviceCount(uint32_t* count) {
  return call("aclrtGetDeviceCount", [&] { result(count, "count") = static_cast<uint32_t>(device::device_count()); });
}
aclError aclrtSynchronizeDevice() {
  return call("aclrtSynchronizeDevice", [] { device::synchronize_device(device::stream_wait_limit()); });
}
aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  const device::trace::CallScope traced("aclrtSynchronizeDeviceWithTimeout", device::trace::Level::kRuntime);
  // Clients wait in slices, and look at something else in between.
  return ask("aclrtSynchronizeDeviceWithTimeout", Code::kStreamSyncTimeout,
             [&] { device::synchronize_device(milliseconds(timeout)); });
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return call("aclrtGetRunMode", [&] { result(runMode, "runMode") = ACL_HOST; });
}
aclError aclrtSetTsDevice(aclrtTsId tsId) {
  return call("aclrtSetTsDevice", [&] {
    if (tsId != ACL_TS_ID_AICORE && tsId != ACL_TS_ID_AIVECTOR)
      fail(Code::kRtParamInvalid, "tsId is {}; it is 0 (AI core) or 1 (vector core)", static_cast<int>(tsId));
  });
}
aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return call("aclrtGetVersion", [&] {
    given(majorVersion, "majorVersion");
    given(minorVersion, "minorVersion");
    result(patchVersion, "patchVersion") = 0;
    *majorVersion = 1;
    *minorVersion = 1;
  });
}
aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId) {
  return call("aclrtGetLogicDevIdByUserDevId", [&] {
    device::check_device(userDevid);
    result(logicDevId, "logicDevId") = userDevid;
  });
}
aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t* const phyDevId) {
  return call("aclrtGetPhyDevIdByLogicDevId",
              [&] { result(phyDevId, "phyDevId") = device::physical_device(logicDevId); });
}
aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
  return call("aclrtGetPrimaryCtxState", [&] {
    device::check_device(deviceId);
    result(active, "active") = device::primary_context_active(deviceId) ? 1 : 0;
    if (flags != nullptr) *flags = 0;
  });
}

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return call("aclrtDeviceCanAccessPeer", [&] {
    device::check_device(deviceId);
    device::check_device(peerDeviceId);
    result(canAccessPeer, "canAccessPeer") = deviceId != peerDeviceId ? 1 : 0;
  });
}
aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  return call("aclrtDeviceEnablePeerAccess", [&] {
    device::check_device(peerDeviceId);
    if (flags != 0) fail(Code::kRtParamInvalid, "flags is {}; it must be 0", flags);
  });
}
aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return call("aclrtDeviceDisablePeerAccess", [&] { device::check_device(peerDeviceId); });
}
aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  return call("aclrtDeviceGetBareTgid", [&] { result(pid, "pid") = getpid(); });
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return call("aclrtCreateContext",
              [&] { give_made(context, "context", [&] { return device::create_context(deviceId); }); });
}
aclError aclrtDestroyContext(aclrtContext context) {
  return call("aclrtDestroyContext", [&] { device::destroy_context(context); });
}
aclError aclrtSetCurrentContext(aclrtContext context) {
  return call("aclrtSetCurrentContext", [&] { device::set_current_context(context); });
}
aclError aclrtGetCurrentContext(aclrtContext* context) {
  // Clients ask whether there is one, to put it back later.
  return ask("aclrtGetCurrentContext", Code::kRtContextNull,
             [&] { result(context, "context") = device::current_context().handle; });
}
