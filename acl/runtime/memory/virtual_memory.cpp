// SPDX-License-Identifier: Apache-2.0
// Address ranges, physical memory and mappings.
#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "device/context/context.h"
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

aclError reserve(const char* function, void** to, size_t size, size_t alignment, void* want, uint64_t flags) {
  return call(function, [&] {
    given(to, "virPtr");
    if (flags > 1) fail(Code::kRtParamInvalid, "flags is {}; it is 0 (ordinary pages) or 1 (huge pages)", flags);
    *to = device::reserve_address(size, alignment, want);
  });
}

void check_share_type(aclrtMemSharedHandleType type) {
  if (type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) return;
  if (type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC)
    fail(Code::kFeatureUnsupported,
         "shareType is 2 (ACL_MEM_SHARE_HANDLE_TYPE_FABRIC): memory is shared within a host only; pass 1 "
         "(ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT)");
  fail(Code::kRtParamInvalid, "shareType is {}; pass 1 (ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT)", static_cast<int>(type));
}

// Bit 0 drops the check of the importer's process id; there is none here.
void check_export_flags(uint64_t flags) {
  if (flags > 1) fail(Code::kRtParamInvalid, "flags is {}; it is 0 or 1", flags);
}

void check_processes(const int32_t* pid, size_t count) {
  given(pid, "pid");
  for (size_t i = 0; i < count; ++i)
    if (pid[i] <= 0) fail(Code::kRtParamInvalid, "pid[{}] is {}; process ids are positive", i, pid[i]);
}

/// Mapped memory can be read and written by its device and by the host's copies; there is nothing else to allow.
void check_access(const aclrtMemAccessDesc& desc, size_t at, int device) {
  if (desc.flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE)
    fail(Code::kRtParamInvalid, "desc[{}].flags is {}; pass 3 (ACL_RT_MEM_ACCESS_FLAGS_READWRITE)", at,
         static_cast<int>(desc.flags));
  if (desc.location.type == ACL_MEM_LOCATION_TYPE_HOST) return;
  if (desc.location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
    fail(Code::kRtParamInvalid, "desc[{}].location.type is {}; pass 0 (host) or 1 (device)", at,
         static_cast<int>(desc.location.type));
  device::check_device(desc.location.id);
  if (static_cast<int>(desc.location.id) != device)
    fail(Code::kFeatureUnsupported,
         "desc[{}] is for device {}, the memory belongs to device {}: kernels read memory of their own device; copy it",
         at, desc.location.id, device);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr, uint64_t flags) {
  return reserve("aclrtReserveMemAddress", virPtr, size, alignment, expectPtr, flags);
}
aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                          uint64_t flags) {
  return reserve("aclrtReserveMemAddressNoUCMemory", virPtr, size, alignment, expectPtr, flags);
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

aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle) {
  return call("aclrtMemRetainAllocationHandle", [&] {
    given(virPtr, "virPtr");
    give_made(handle, "handle", [&] { return device::handle_of_mapping(virPtr); });
  });
}
aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc, size_t count) {
  return call("aclrtMemSetAccess", [&] {
    given(virPtr, "virPtr");
    given(desc, "desc");
    const int device = device::device_of_mapping(virPtr, size);
    if (device < 0)
      fail(Code::kRtParamInvalid, "virPtr {} with {} bytes is no mapping; pass both as aclrtMapMem got them", virPtr,
           size);
    if (count == 0) fail(Code::kRtParamInvalid, "count is 0; pass at least one description");
    for (size_t i = 0; i < count; ++i) check_access(desc[i], i, device);
  });
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags,
                                         uint64_t* shareableHandle) {
  return call("aclrtMemExportToShareableHandle", [&] {
    check_zero(handleType, "handleType");
    check_export_flags(flags);
    give_made(shareableHandle, "shareableHandle", [&] { return device::export_physical(handle); });
  });
}
aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType shareType,
                                           void* shareableHandle) {
  return call("aclrtMemExportToShareableHandleV2", [&] {
    check_share_type(shareType);
    check_export_flags(flags);
    give_made(static_cast<uint64_t*>(shareableHandle), "shareableHandle",
              [&] { return device::export_physical(handle); });
  });
}
aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle* handle) {
  return call("aclrtMemImportFromShareableHandle", [&] {
    device::check_device(deviceId);
    give_made(handle, "handle", [&] { return device::import_physical(shareableHandle, deviceId); });
  });
}
aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType, uint64_t flags,
                                             aclrtDrvMemHandle* handle) {
  return call("aclrtMemImportFromShareableHandleV2", [&] {
    check_share_type(shareType);
    check_zero(flags, "flags");
    const uint64_t shared = *static_cast<const uint64_t*>(given(shareableHandle, "shareableHandle"));
    give_made(handle, "handle", [&] { return device::import_physical(shared, device::current_device()); });
  });
}
aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum) {
  return call("aclrtMemSetPidToShareableHandle", [&] {
    if (shareableHandle == 0) fail(Code::kRtParamInvalid, "shareableHandle is 0; pass the number the export gave");
    check_processes(pid, pidNum);
  });
}
aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType, int32_t* pid,
                                           size_t pidNum) {
  return call("aclrtMemSetPidToShareableHandleV2", [&] {
    check_share_type(shareType);
    given(shareableHandle, "shareableHandle");
    check_processes(pid, pidNum);
  });
}
