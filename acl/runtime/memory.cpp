// SPDX-License-Identifier: Apache-2.0
// Device and page-locked memory.
#include "device/memory.h"

#include "acl/include/acl/acl_rt.h"
#include "acl/runtime/call.h"
#include "device/context.h"
#include "device/host_memory.h"

namespace npu::acl {
namespace {

void check_policy(int policy) {
  constexpr int kModifiers =
      ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_ACCESS_USER_SPACE_READONLY;
  const int base = policy & ~kModifiers;
  if (base < ACL_MEM_MALLOC_HUGE_FIRST || base > ACL_MEM_MALLOC_HUGE1G_ONLY_P2P)
    fail(Code::kRtParamInvalid, "policy is {}; pass an aclrtMemMallocPolicy such as 0 (ACL_MEM_MALLOC_HUGE_FIRST)",
         policy);
}

void check_size(size_t size) {
  if (size == 0) fail(Code::kInvalidParam, "size is 0; ask for at least one byte");
}

aclError allocate(const char* function, void** devPtr, size_t size, int policy) {
  return call(function, [&] {
    given(devPtr, "devPtr");
    check_size(size);
    check_policy(policy);
    *devPtr = device::allocate(device::current_device(), size);
  });
}

aclError check_range(const char* function, const void* devPtr, size_t size) {
  return call(function, [&] { device::check_live(given(devPtr, "devPtr"), size, device::kAnyDevice, "devPtr"); });
}

aclrtMemLocation location_of(const void* ptr) {
  if (const device::Block block = device::find_block(ptr))
    return {static_cast<uint32_t>(block.device), ACL_MEM_LOCATION_TYPE_DEVICE};
  return {0, device::is_pinned(ptr, 1) ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_UNREGISTERED};
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return allocate("aclrtMalloc", devPtr, size, policy);
}
aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return allocate("aclrtMallocAlign32", devPtr, size, policy);
}
aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return allocate("aclrtMallocCached", devPtr, size, policy);
}
aclError aclrtMemFlush(void* devPtr, size_t size) { return check_range("aclrtMemFlush", devPtr, size); }
aclError aclrtMemInvalidate(void* devPtr, size_t size) { return check_range("aclrtMemInvalidate", devPtr, size); }

aclError aclrtFree(void* devPtr) {
  return call("aclrtFree", [&] { device::deallocate(given(devPtr, "devPtr")); });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return call("aclrtMallocHost", [&] {
    given(hostPtr, "hostPtr");
    check_size(size);
    *hostPtr = device::malloc_host(size);
  });
}
aclError aclrtFreeHost(void* hostPtr) {
  return call("aclrtFreeHost", [&] { device::free_host(given(hostPtr, "hostPtr")); });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return call("aclrtGetMemInfo", [&] {
    if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G)
      fail(Code::kRtParamInvalid, "attr is {}; pass an aclrtMemAttr such as 1 (ACL_HBM_MEM)", static_cast<int>(attr));
    given(free, "free");
    given(total, "total");
    const device::MemoryInfo info = device::memory_info(device::current_device());
    *free = info.free();
    *total = info.capacity;
  });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return call("aclrtPointerGetAttributes", [&] {
    given(ptr, "ptr");
    result(attributes, "attributes") = {location_of(ptr), 4096, {}};
  });
}
