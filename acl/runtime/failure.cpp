// SPDX-License-Identifier: Apache-2.0
// The client's callback for failed tasks.
#include <atomic>
#include <mutex>
#include <set>

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "device/queue/stream.h"

struct aclrtExceptionInfo {
  npu::device::TaskFailure failure;
};

namespace npu::acl {
namespace {

std::atomic<aclrtExceptionInfoCallback> client_callback{nullptr};

/// The infos whose callback is running: a client may keep the address of one for longer.
struct Told {
  std::mutex mutex;
  std::set<const aclrtExceptionInfo*> now;
};
Told& told() {
  static Told& instance = *new Told;
  return instance;
}

void tell_client(const device::TaskFailure& failure) {
  const aclrtExceptionInfoCallback callback = client_callback.load();
  if (callback == nullptr) return;
  aclrtExceptionInfo info{failure};
  {
    const std::lock_guard lock(told().mutex);
    told().now.insert(&info);
  }
  callback(&info);
  const std::lock_guard lock(told().mutex);
  told().now.erase(&info);
}

template <class Member>
uint32_t field(const aclrtExceptionInfo* info, Member device::TaskFailure::*member) {
  const std::lock_guard lock(told().mutex);
  return told().now.contains(info) ? static_cast<uint32_t>(info->failure.*member) : UINT32_MAX;
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
  return call("aclrtSetExceptionInfoCallback", [&] {
    client_callback.store(callback);
    device::set_failure_hook(callback == nullptr ? nullptr : &tell_client);
  });
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return field(info, &device::TaskFailure::task_id);
}
uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return field(info, &device::TaskFailure::stream_id);
}
uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return field(info, &device::TaskFailure::thread_id);
}
uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return field(info, &device::TaskFailure::device_id);
}
uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) {
  return field(info, &device::TaskFailure::code);
}
