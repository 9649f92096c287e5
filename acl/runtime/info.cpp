// SPDX-License-Identifier: Apache-2.0
// What the process claims to run on: chip, installed version, optional features.
#include <cstring>
#include <string>

#include "acl/call.h"
#include "acl/include/acl/acl.h"
#include "device/memory/memory.h"
#include "device/process/soc.h"

namespace npu::acl {
namespace {

// Clients choose code paths by it; this is the newest release whose paths the operators here were tested on.
constexpr const char* kVersion = "9.1.0";

int64_t capability(const device::Soc& soc, int info) {
  switch (info) {
    case ACL_DEVICE_INFO_AI_CORE_NUM: return soc.ai_cores;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM: return soc.vector_cores;
    case ACL_DEVICE_INFO_L2_SIZE: return static_cast<int64_t>(soc.l2_bytes);
    default:
      fail(Code::kInvalidParam, "deviceInfo is {}; known are 0 (AI cores), 1 (vector cores), 2 (L2 bytes)", info);
  }
}

int64_t attribute(const device::Soc& soc, int device, int attribute) {
  switch (attribute) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM: return 0;
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM: return soc.ai_cores;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM: return soc.vector_cores;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE: return static_cast<int64_t>(device::memory_info(device).capacity);
    case ACL_DEV_ATTR_L2_CACHE_SIZE: return static_cast<int64_t>(soc.l2_bytes);
    case ACL_DEV_ATTR_PHY_CHIP_ID: return device;
    case ACL_DEV_ATTR_IS_VIRTUAL: return 1;
    default: fail(Code::kRtParamInvalid, "attr is {}; a software device has no such attribute", attribute);
  }
}

bool feature(int attribute) {
  switch (attribute) {
    case ACL_CANN_ATTR_INF_NAN: return device::soc().inf_nan;
    case ACL_CANN_ATTR_BF16: return device::soc().has(DType::kBFloat16);
    case ACL_CANN_ATTR_JIT_COMPILE: return false;  // nothing is ever compiled
    default: fail(Code::kInvalidParam, "cannAttr is {}; known are 0 (INF_NAN), 1 (BF16), 2 (JIT_COMPILE)", attribute);
  }
}

/// A name-based identifier (version 8 of RFC 9562: the bits are ours).
aclrtUuid uuid_of(const device::Soc& soc, int device) {
  aclrtUuid uuid{};
  std::memcpy(uuid.bytes, "anynpu", 6);
  uuid.bytes[6] = static_cast<char>(0x80);
  uuid.bytes[8] = static_cast<char>(0x80);
  uint32_t hash = 2166136261u;
  for (const char* c = soc.name; *c != 0; ++c) hash = (hash ^ static_cast<uint8_t>(*c)) * 16777619u;
  std::memcpy(uuid.bytes + 9, &hash, sizeof hash);
  uuid.bytes[15] = static_cast<char>(device);
  return uuid;
}

void put(char* place, size_t size, const char* text) { std::strncpy(place, text, size); }

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

const char* aclrtGetSocName() {
  return call_or<const char*>("aclrtGetSocName", "", [] { return device::soc().name; });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return call("aclGetDeviceCapability", [&] {
    device::check_device(deviceId);
    result(value, "value") = capability(device::soc(), deviceInfo);
  });
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  return call("aclrtGetDeviceInfo", [&] {
    device::check_device(deviceId);
    result(value, "value") = attribute(device::soc(), static_cast<int>(deviceId), attr);
  });
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
  return call("aclrtDeviceGetUuid", [&] {
    device::check_device(deviceId);
    result(uuid, "uuid") = uuid_of(device::soc(), deviceId);
  });
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  return call("aclGetCannAttribute", [&] { result(value, "value") = feature(cannAttr) ? 1 : 0; });
}

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  return call("aclGetCannAttributeList", [&] {
    static aclCannAttr present[2];
    size_t count = 0;
    for (const aclCannAttr candidate : {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16})
      if (feature(candidate)) present[count++] = candidate;  // the same values at every call
    given(num, "num");
    result(cannAttrList, "cannAttrList") = present;
    *num = count;
  });
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  return call("aclsysGetCANNVersion", [&] {
    if (static_cast<int>(name) < 0)
      fail(Code::kInvalidParam, "name is {}; packages are numbered from 0", static_cast<int>(name));
    aclCANNPackageVersion& v = result(version, "version");
    v = {};
    put(v.version, sizeof v.version, kVersion);
    put(v.majorVersion, sizeof v.majorVersion, "9");
    put(v.minorVersion, sizeof v.minorVersion, "1");
    put(v.releaseVersion, sizeof v.releaseVersion, "0");
    put(v.patchVersion, sizeof v.patchVersion, "0");
  });
}

aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  return call("aclsysGetVersionStr", [&] {
    given(pkgName, "pkgName");
    std::strcpy(&result(versionStr, "versionStr"), kVersion);
  });
}
