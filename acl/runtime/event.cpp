// SPDX-License-Identifier: Apache-2.0
// Events.
#include "device/queue/event.h"

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "device/context/context.h"
#include "device/queue/capture.h"
#include "device/queue/stream.h"

namespace npu::acl {
namespace {

void create_event(aclrtEvent* event, uint32_t flag) {
  constexpr uint32_t kKnown =
      ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC;
  given(event, "event");
  if (flag & ~kKnown) fail(Code::kRtParamInvalid, "flag is {:#x}; only the ACL_EVENT_ bits {:#x} exist", flag, kKnown);
  *event = device::create_event(flag);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtCreateEvent(aclrtEvent* event) {
  return call("aclrtCreateEvent", [&] { npu::acl::create_event(event, 0); });
}
aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return call("aclrtCreateEventWithFlag", [&] { npu::acl::create_event(event, flag); });
}
aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return call("aclrtCreateEventExWithFlag", [&] { npu::acl::create_event(event, flag); });
}
aclError aclrtDestroyEvent(aclrtEvent event) {
  return call("aclrtDestroyEvent", [&] { device::destroy_event(event); });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return call("aclrtRecordEvent", [&] {
    device::Stream& queue = device::stream_from_handle(stream);
    if (!device::record_in_capture(queue, event)) device::record_event(event, queue);
  });
}
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return call("aclrtResetEvent", [&] {
    device::Stream& queue = device::stream_from_handle(stream);
    if (!device::reset_in_capture(queue, event)) device::reset_event(event, queue);
  });
}
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return call("aclrtStreamWaitEvent", [&] {
    device::Stream& queue = device::stream_from_handle(stream);
    if (!device::wait_in_capture(queue, event)) device::wait_event(queue, event);
  });
}
aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return call("aclrtSynchronizeEvent", [&] {
    device::check_event_not_captured(event, "synchronise");
    device::synchronize_event(event, device::event_wait_limit());
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return call("aclrtQueryEvent", [&] {
    given(status, "status");
    device::check_event_not_captured(event, "query");
    *status = device::event_complete(event) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  });
}
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return call("aclrtQueryEventStatus", [&] {
    given(status, "status");
    device::check_event_not_captured(event, "query");
    *status = device::event_complete(event) ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  });
}
aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return call("aclrtQueryEventWaitStatus", [&] {
    given(status, "status");
    *status = device::event_waits_complete(event) ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
  });
}
aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return call("aclrtEventElapsedTime", [&] { result(ms, "ms") = device::elapsed_ms(startEvent, endEvent); });
}
aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  return call("aclrtEventGetTimestamp", [&] { result(timestamp, "timestamp") = device::event_timestamp_us(event); });
}
