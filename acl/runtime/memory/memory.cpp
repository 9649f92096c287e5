// SPDX-License-Identifier: Apache-2.0
// Device and page-locked memory.
#include "device/memory/memory.h"

#include <algorithm>

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "acl/runtime/memory/copy.h"
#include "device/context/context.h"
#include "device/memory/available.h"
#include "device/memory/host.h"
#include "device/queue/stream.h"

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
  const device::Block block = device::is_device_address(ptr) ? device::find_block(ptr) : device::Block{};
  if (block) return {static_cast<uint32_t>(block.device), ACL_MEM_LOCATION_TYPE_DEVICE};
  return {0, device::is_pinned(ptr, 1) ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_UNREGISTERED};
}

void check_type(aclrtHostRegisterType type) {
  if (type == ACL_HOST_REGISTER_IOMEMORY || type == ACL_HOST_REGISTER_READONLY)
    fail(Code::kFeatureUnsupported,
         "type is {}: registers of other cards and memory that devices only read cannot be registered; pass 0 "
         "(ACL_HOST_REGISTER_MAPPED)",
         static_cast<int>(type));
  if (type != ACL_HOST_REGISTER_MAPPED)
    fail(Code::kRtParamInvalid, "type is {}; pass 0 (ACL_HOST_REGISTER_MAPPED)", static_cast<int>(type));
}

void check_flag(uint32_t flag) {
  constexpr uint32_t kOffered = ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED;
  constexpr uint32_t kKnown = kOffered | ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY;
  if (flag == 0 || (flag & ~kKnown) != 0)
    fail(Code::kRtParamInvalid,
         "flag is {:#x}; pass 2 (ACL_HOST_REG_MAPPED), 0x10000000 (ACL_HOST_REG_PINNED), or both", flag);
  if ((flag & ~kOffered) != 0)
    fail(Code::kFeatureUnsupported,
         "flag is {:#x}: registers of other cards and memory that devices only read cannot be registered; pass 2 "
         "(ACL_HOST_REG_MAPPED), 0x10000000 (ACL_HOST_REG_PINNED), or both",
         flag);
}

void check_register(void* ptr, uint64_t size) {
  check_size(size);
  if (reinterpret_cast<uintptr_t>(ptr) % 4096 != 0)
    fail(Code::kRtParamInvalid,
         "ptr is {}; registered memory starts at a multiple of 4096, as aclrtMallocHost gives it", ptr);
  if (device::is_device_address(ptr)) fail(Code::kRtParamInvalid, "ptr {} is device memory; pass host memory", ptr);
  check_host(ptr, size, "ptr");
}

// What the caches of one core hold; the rest would only push it out again.
constexpr size_t kMostFetched = 1 << 20;

void fetch(const void* from, size_t bytes) {
  const auto* first = static_cast<const std::byte*>(device::resolve(from, bytes));
  for (size_t i = 0; i < std::min(bytes, kMostFetched); i += 64) __builtin_prefetch(first + i);
}

void check_operation(aclrtCmoType type) {
  if (type == ACL_RT_CMO_TYPE_PREFETCH) return;
  if (type < ACL_RT_CMO_TYPE_PREFETCH || type > ACL_RT_CMO_TYPE_FLUSH)
    fail(Code::kRtParamInvalid, "cmoType is {}; pass 0 (ACL_RT_CMO_TYPE_PREFETCH)", static_cast<int>(type));
  fail(Code::kFeatureUnsupported, "cmoType is {}; devices know 0 (ACL_RT_CMO_TYPE_PREFETCH) only",
       static_cast<int>(type));
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

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return call("aclrtHostRegister", [&] {
    given(ptr, "ptr");
    given(devPtr, "devPtr");
    check_type(type);
    check_register(ptr, size);
    device::map_host(ptr, size, device::current_device());
    *devPtr = ptr;
  });
}
aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  return call("aclrtHostRegisterV2", [&] {
    given(ptr, "ptr");
    check_flag(flag);
    check_register(ptr, size);
    if ((flag & ACL_HOST_REG_MAPPED) != 0)
      device::map_host(ptr, size, device::current_device());
    else
      device::pin_host(ptr, size);
  });
}
aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
  return call("aclrtHostGetDevicePointer", [&] {
    given(pHost, "pHost");
    given(pDevice, "pDevice");
    if (flag != 0) fail(Code::kRtParamInvalid, "flag is {:#x}; it is reserved: pass 0", flag);
    if (device::is_device_address(pHost) || !device::find_block(pHost))
      fail(Code::kRtParamInvalid,
           "pHost {} is not in host memory registered with ACL_HOST_REG_MAPPED; call aclrtHostRegisterV2 first", pHost);
    *pDevice = pHost;
  });
}
aclError aclrtHostUnregister(void* ptr) {
  return call("aclrtHostUnregister", [&] { device::unmap_host(given(ptr, "ptr")); });
}

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  return call("aclrtCmoAsync", [&] {
    given(src, "src");
    check_operation(cmoType);
    check_size(size);
    device::Stream& queue = device::stream_from_handle(stream);
    device::check_live(src, size, queue.device(), "src");
    device::Task task;
    task.name = "prefetch";
    task.cost_ns = static_cast<int64_t>(std::min(size, kMostFetched) / 64);
    task.body = [src, size] { fetch(src, size); };
    queue.launch(std::move(task));
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return call("aclrtGetMemInfo", [&] {
    if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G)
      fail(Code::kRtParamInvalid, "attr is {}; pass an aclrtMemAttr such as 1 (ACL_HBM_MEM)", static_cast<int>(attr));
    given(free, "free");
    given(total, "total");
    const device::MemoryInfo info = device::memory_info(device::current_device());
    *free = std::min(info.free(), device::obtainable_memory());
    *total = info.capacity;
  });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return call("aclrtPointerGetAttributes", [&] {
    given(ptr, "ptr");
    result(attributes, "attributes") = {location_of(ptr), 4096, {}};
  });
}
