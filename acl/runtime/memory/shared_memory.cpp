// SPDX-License-Identifier: Apache-2.0
// Device memory that processes share by keys.
#include <cstring>

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "device/context/context.h"
#include "device/memory/import.h"
#include "device/memory/memory.h"
#include "device/memory/share.h"
#include "device/queue/stream_table.h"

namespace npu::acl {
namespace {

// What the vendor's pages fix, the closing zero among them.
constexpr size_t kKeyBytes = 65;

void check_flags(uint64_t flags) {
  if (flags > 1) fail(Code::kRtParamInvalid, "flags is {}; it is 0 or 1", flags);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags) {
  return call("aclrtIpcMemGetExportKey", [&] {
    given(devPtr, "devPtr");
    given(key, "key");
    if (len < kKeyBytes) fail(Code::kRtParamInvalid, "len is {}; a key takes {} bytes", len, kKeyBytes);
    check_flags(flags);
    device::refuse_after_failure(device::find_block(devPtr).device);
    std::strncpy(key, device::export_memory(devPtr, size).c_str(), len);
  });
}
aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num) {
  return call("aclrtIpcMemSetImportPid", [&] {
    given(key, "key");
    given(pid, "pid");
    if (!device::is_exported(key))
      fail(Code::kRtParamInvalid, "key '{}' was not exported by this process, or is closed", key);
    for (size_t i = 0; i < num; ++i)
      if (pid[i] <= 0) fail(Code::kRtParamInvalid, "pid[{}] is {}; process ids are positive", i, pid[i]);
  });
}
aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags) {
  return call("aclrtIpcMemImportByKey", [&] {
    given(devPtr, "devPtr");
    given(key, "key");
    check_flags(flags);
    *devPtr = device::import_memory(key, device::current_device());
  });
}
aclError aclrtIpcMemClose(const char* key) {
  return call("aclrtIpcMemClose", [&] { device::close_shared(given(key, "key")); });
}
