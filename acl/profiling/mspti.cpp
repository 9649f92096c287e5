// SPDX-License-Identifier: Apache-2.0
#include "acl/include/mspti/mspti.h"

#include <array>
#include <mutex>
#include <vector>

#include "acl/call.h"
#include "acl/notice.h"
#include "acl/profiling/activity.h"
#include "acl/profiling/callback.h"
#include "device/process/init.h"
#include "device/trace/recorder.h"

// What clients hold; only its address counts.
struct msptiSubscriber_st {
  bool taken = false;
};

using namespace npu::acl;  // NOLINT: the C functions below are the door itself

namespace trace = npu::device::trace;

namespace {

std::mutex mutex;
msptiSubscriber_st subscriber_of_process;

bool is_kind(msptiActivityKind kind) { return kind > MSPTI_ACTIVITY_KIND_INVALID && kind < MSPTI_ACTIVITY_KIND_COUNT; }

size_t size_of(msptiActivityKind kind) {
  switch (kind) {
    case MSPTI_ACTIVITY_KIND_MARKER: return sizeof(msptiActivityMarker);
    case MSPTI_ACTIVITY_KIND_KERNEL: return sizeof(msptiActivityKernel);
    case MSPTI_ACTIVITY_KIND_API:
    case MSPTI_ACTIVITY_KIND_ACL_API:
    case MSPTI_ACTIVITY_KIND_NODE_API: return sizeof(msptiActivityApi);
    case MSPTI_ACTIVITY_KIND_HCCL: return sizeof(msptiActivityHccl);
    case MSPTI_ACTIVITY_KIND_MEMORY: return sizeof(msptiActivityMemory);
    case MSPTI_ACTIVITY_KIND_MEMSET: return sizeof(msptiActivityMemset);
    case MSPTI_ACTIVITY_KIND_MEMCPY: return sizeof(msptiActivityMemcpy);
    case MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return sizeof(msptiActivityExternalCorrelation);
    case MSPTI_ACTIVITY_KIND_COMMUNICATION: return sizeof(msptiActivityCommunication);
    default: return 0;
  }
}

/// What this thread pushed, by kind from UNKNOWN; the last of each is the owner of its calls.
thread_local std::array<std::vector<uint64_t>, std::tuple_size_v<trace::Owners>> pushed;

std::vector<uint64_t>* stack_of(msptiExternalCorrelationKind kind) {
  const bool known = kind > MSPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < MSPTI_EXTERNAL_CORRELATION_KIND_SIZE;
  return known ? &pushed[static_cast<size_t>(kind) - 1] : nullptr;
}

void show_owner(msptiExternalCorrelationKind kind) {
  const std::vector<uint64_t>& stack = *stack_of(kind);
  trace::owners_here()[static_cast<size_t>(kind) - 1] = stack.empty() ? 0 : stack.back();
}

/// As acl::call, in the codes of mspti: what is refused here is told by aclGetRecentErrMsg.
template <class F>
msptiResult answer(const char* function, F&& body) noexcept {
  try {
    npu::device::check_process();
    return body();
  } catch (...) {
    refuse_current(function);
    return MSPTI_ERROR_INNER;
  }
}

bool may_call(msptiSubscriberHandle subscriber, msptiCallbackDomain domain) {
  const std::lock_guard lock(mutex);
  return subscriber == &subscriber_of_process && subscriber_of_process.taken && callbacks().is_subscribed() &&
         domain > MSPTI_CB_DOMAIN_INVALID && domain < MSPTI_CB_DOMAIN_SIZE;
}

msptiResult enable_domain(const char* function, const char* name, bool enabled) {
  return answer(function, [&] {
    if (name == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
    activities().enable_domain(name, enabled);
    return MSPTI_SUCCESS;
  });
}

}  // namespace

msptiResult msptiSubscribe(msptiSubscriberHandle* subscriber, msptiCallbackFunc callback, void* userdata) {
  if (subscriber == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard lock(mutex);
  if (subscriber_of_process.taken) return MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  subscriber_of_process.taken = true;
  callbacks().subscribe(callback, userdata);
  *subscriber = &subscriber_of_process;
  return MSPTI_SUCCESS;
}

msptiResult msptiUnsubscribe(msptiSubscriberHandle subscriber) {
  const std::lock_guard lock(mutex);
  if (subscriber != &subscriber_of_process || !subscriber_of_process.taken) return MSPTI_ERROR_INVALID_PARAMETER;
  subscriber_of_process.taken = false;
  callbacks().unsubscribe();
  activities().listen_as_needed();
  return MSPTI_SUCCESS;
}

msptiResult msptiEnableDomain(uint32_t enable, msptiSubscriberHandle subscriber, msptiCallbackDomain domain) {
  return answer("msptiEnableDomain", [&] {
    if (!may_call(subscriber, domain)) return MSPTI_ERROR_INVALID_PARAMETER;
    callbacks().enable(domain, enable != 0);
    activities().listen_as_needed();
    return MSPTI_SUCCESS;
  });
}

msptiResult msptiEnableCallback(uint32_t enable, msptiSubscriberHandle subscriber, msptiCallbackDomain domain,
                                msptiCallbackId cbid) {
  return answer("msptiEnableCallback", [&] {
    if (!may_call(subscriber, domain)) return MSPTI_ERROR_INVALID_PARAMETER;
    if (!callbacks().enable(domain, cbid, enable != 0)) {
      tell_once(
          "msptiEnableCallback: of single functions 1 (aclrtSetDevice) and 2 (aclrtResetDevice) of domain 1 are known; "
          "enable the domain (msptiEnableDomain) and look at functionName for others");
      return MSPTI_ERROR_INVALID_PARAMETER;
    }
    activities().listen_as_needed();
    return MSPTI_SUCCESS;
  });
}

msptiResult msptiActivityRegisterCallbacks(msptiBuffersCallbackRequestFunc funcBufferRequested,
                                           msptiBuffersCallbackCompleteFunc funcBufferCompleted) {
  return answer("msptiActivityRegisterCallbacks", [&] {
    if (funcBufferRequested == nullptr || funcBufferCompleted == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
    activities().buffers().use(funcBufferRequested, funcBufferCompleted);
    return MSPTI_SUCCESS;
  });
}

msptiResult msptiActivityEnable(msptiActivityKind kind) {
  return answer("msptiActivityEnable", [&] {
    if (!is_kind(kind)) return MSPTI_ERROR_INVALID_KIND;
    if (!activities().buffers().usable()) return MSPTI_ERROR_NOT_INITIALIZED;
    if (size_of(kind) == 0)
      tell_once(
          "mspti: nothing is recorded of kinds 12 (RUNTIME_API) and 13 (OVERHEAD), which a device in software "
          "has not; 10 (ACL_API) has all calls");
    activities().enable(kind, true);
    return MSPTI_SUCCESS;
  });
}

msptiResult msptiActivityDisable(msptiActivityKind kind) {
  return answer("msptiActivityDisable", [&] {
    if (!is_kind(kind)) return MSPTI_ERROR_INVALID_KIND;
    activities().enable(kind, false);
    return MSPTI_SUCCESS;
  });
}

bool msptiActivityIsEnabled(msptiActivityKind kind) { return is_kind(kind) && activities().is_enabled(kind); }

msptiResult msptiActivityEnableMarkerDomain(const char* name) {
  return enable_domain("msptiActivityEnableMarkerDomain", name, true);
}
msptiResult msptiActivityDisableMarkerDomain(const char* name) {
  return enable_domain("msptiActivityDisableMarkerDomain", name, false);
}

msptiResult msptiActivityGetNextRecord(uint8_t* buffer, size_t validBufferSizeBytes, msptiActivity** record) {
  if (buffer == nullptr || record == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
  uint8_t* next = buffer;
  if (*record != nullptr) {
    const size_t size = size_of((*record)->kind);
    if (size == 0) return MSPTI_ERROR_INVALID_KIND;
    next = reinterpret_cast<uint8_t*>(*record) + size;
  }
  if (next < buffer || next >= buffer + validBufferSizeBytes) return MSPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<msptiActivity*>(next);
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityFlushAll(uint32_t) {
  return answer("msptiActivityFlushAll", [] {
    if (!activities().buffers().usable()) return MSPTI_ERROR_NOT_INITIALIZED;
    activities().buffers().flush();
    return MSPTI_SUCCESS;
  });
}

msptiResult msptiActivityPushExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t id) {
  return answer("msptiActivityPushExternalCorrelationId", [&] {
    if (stack_of(kind) == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
    stack_of(kind)->push_back(id);
    show_owner(kind);
    return MSPTI_SUCCESS;
  });
}

msptiResult msptiActivityPopExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t* lastId) {
  std::vector<uint64_t>* const stack = stack_of(kind);
  if (stack == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
  if (stack->empty()) return MSPTI_ERROR_QUEUE_EMPTY;
  if (lastId != nullptr) *lastId = stack->back();
  stack->pop_back();
  show_owner(kind);
  return MSPTI_SUCCESS;
}

msptiResult msptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) {
  if (dropped == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
  *dropped = activities().buffers().take_dropped();
  return MSPTI_SUCCESS;
}

msptiResult msptiGetTimestamp(uint64_t* timestamp) {
  if (timestamp == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
  *timestamp = activities().time(trace::now());
  return MSPTI_SUCCESS;
}
