// SPDX-License-Identifier: Apache-2.0
// Address ranges, physical memory and mappings.
#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "device/memory/virtual.h"
#include "device/process/soc.h"

namespace npu::acl {
namespace {

void check_zero(uint64_t value, const char* argument) {
  if (value != 0) fail(Code::kRtParamInvalid, "{} is {}; it must be 0", argument, value);
}

const aclrtPhysicalMemProp& check(const aclrtPhysicalMemProp* prop) {
  const aclrtPhysicalMemProp& p = *given(prop, "prop");
  if (p.handleType != ACL_MEM_HANDLE_TYPE_NONE || p.allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED)
    fail(Code::kRtParamInvalid, "prop has handleType {} and allocationType {}; both must be 0",
         static_cast<int>(p.handleType), static_cast<int>(p.allocationType));
  if (p.location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
    fail(Code::kRtParamInvalid, "prop.location.type is {}; only 1 (ACL_MEM_LOCATION_TYPE_DEVICE) can be mapped",
         static_cast<int>(p.location.type));
  device::check_device(p.location.id);
  return p;
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr, uint64_t flags) {
  return call("aclrtReserveMemAddress", [&] {
    given(virPtr, "virPtr");
    if (flags > 1) fail(Code::kRtParamInvalid, "flags is {}; it is 0 (ordinary pages) or 1 (huge pages)", flags);
    *virPtr = device::reserve_address(size, alignment, expectPtr);
  });
}
aclError aclrtReleaseMemAddress(void* virPtr) {
  return call("aclrtReleaseMemAddress", [&] { device::release_address(given(virPtr, "virPtr")); });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* prop, uint64_t flags) {
  return call("aclrtMallocPhysical", [&] {
    given(handle, "handle");
    check_zero(flags, "flags");
    *handle = device::create_physical(static_cast<int>(check(prop).location.id), size);
  });
}
aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return call("aclrtFreePhysical", [&] { device::free_physical(handle); });
}
aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
  return call("aclrtMapMem", [&] {
    check_zero(flags, "flags");
    device::map_memory(given(virPtr, "virPtr"), size, offset, handle);
  });
}
aclError aclrtUnmapMem(void* virPtr) {
  return call("aclrtUnmapMem", [&] { device::unmap_memory(given(virPtr, "virPtr")); });
}
aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions, size_t* granularity) {
  return call("aclrtMemGetAllocationGranularity", [&] {
    check(prop);
    result(granularity, "granularity") = device::kGranularity;
  });
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags,
                                         uint64_t* shareableHandle) {
  return call("aclrtMemExportToShareableHandle", [&] {
    check_zero(handleType, "handleType");
    // Bit 0 drops the check of the importer's process id; there is none here.
    if (flags > 1) fail(Code::kRtParamInvalid, "flags is {}; it is 0 or 1", flags);
    give_made(shareableHandle, "shareableHandle", [&] { return device::export_physical(handle); });
  });
}
aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle* handle) {
  return call("aclrtMemImportFromShareableHandle", [&] {
    device::check_device(deviceId);
    give_made(handle, "handle", [&] { return device::import_physical(shareableHandle, deviceId); });
  });
}
aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum) {
  return call("aclrtMemSetPidToShareableHandle", [&] {
    if (shareableHandle == 0) fail(Code::kRtParamInvalid, "shareableHandle is 0; pass the number the export gave");
    given(pid, "pid");
    for (size_t i = 0; i < pidNum; ++i)
      if (pid[i] <= 0) fail(Code::kRtParamInvalid, "pid[{}] is {}; process ids are positive", i, pid[i]);
  });
}
