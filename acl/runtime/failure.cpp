// SPDX-License-Identifier: Apache-2.0
// The client's callback for failed tasks.
#include <atomic>

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "device/queue/stream.h"

struct aclrtExceptionInfo {
  npu::device::TaskFailure failure;
};

namespace npu::acl {
namespace {

std::atomic<aclrtExceptionInfoCallback> client_callback{nullptr};

void tell_client(const device::TaskFailure& failure) {
  aclrtExceptionInfo info{failure};
  if (const aclrtExceptionInfoCallback callback = client_callback.load()) callback(&info);
}

uint32_t field(const aclrtExceptionInfo* info, uint32_t device::TaskFailure::*member) {
  return info == nullptr ? UINT32_MAX : info->failure.*member;
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
  return info == nullptr ? UINT32_MAX : static_cast<uint32_t>(info->failure.code);
}
