// SPDX-License-Identifier: Apache-2.0
// Streams.
#include "device/queue/stream.h"

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "acl/runtime/stream_attribute.h"
#include "device/context/context.h"
#include "device/queue/capture.h"
#include "device/queue/stream_table.h"

namespace npu::acl {
namespace {

/// The stream of a question about queued work. Raises 107000 while its work is recorded.
device::Stream& queued(aclrtStream handle, const char* action) {
  device::Stream& stream = device::stream_from_handle(handle);
  device::check_not_captured(stream, action);
  return stream;
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtCreateStream(aclrtStream* stream) {
  return call("aclrtCreateStream", [&] { give_made(stream, "stream", [] { return device::create_stream(); }); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return call("aclrtCreateStreamWithConfig", [&] {
    constexpr uint32_t kKnown = 0x3F;
    if (flag & ~kKnown)
      fail(Code::kRtParamInvalid, "flag is {:#x}; only the ACL_STREAM_ bits {:#x} exist", flag, kKnown);
    give_made(stream, "stream", [&] { return device::create_stream(priority, flag); });
  });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return call("aclrtDestroyStream", [&] {
    if (const device::Stream* found = device::find_stream(stream)) device::check_not_captured(*found, "destroy");
    forget_attributes(stream);
    device::destroy_stream(stream);
  });
}
aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return call("aclrtDestroyStreamForce", [&] {
    forget_attributes(stream);
    device::destroy_stream_force(stream);
  });
}

aclError aclrtStreamAbort(aclrtStream stream) {
  return call("aclrtStreamAbort", [&] {
    if (const device::Stream* found = device::find_stream(stream)) device::check_not_captured(*found, "abort");
    device::abort_stream(stream);
  });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return call("aclrtSynchronizeStream",
              [&] { queued(stream, "synchronise").synchronize(device::stream_wait_limit()); });
}
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  const device::trace::CallScope traced("aclrtSynchronizeStreamWithTimeout", device::trace::Level::kRuntime);
  // Clients wait in slices, and look at something else in between.
  return ask("aclrtSynchronizeStreamWithTimeout", Code::kStreamSyncTimeout,
             [&] { queued(stream, "synchronise").synchronize(milliseconds(timeout)); });
}
aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return call("aclrtStreamQuery", [&] {
    given(status, "status");
    *status = queued(stream, "query").query() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  });
}
aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  return call("aclrtStreamGetId", [&] { result(streamId, "streamId") = device::stream_from_handle(stream).id(); });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return call("aclrtSetStreamFailureMode", [&] { set_failure_mode(device::stream_from_handle(stream), mode, "mode"); });
}
aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  return call("aclrtSetStreamOverflowSwitch", [&] {
    if (flag > 1) fail(Code::kRtParamInvalid, "flag is {}; it is 0 (off) or 1 (on)", flag);
    device::stream_from_handle(stream).set_overflow_switch(flag == 1);
  });
}
aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  return call("aclrtGetStreamOverflowSwitch",
              [&] { result(flag, "flag") = device::stream_from_handle(stream).overflow_switch() ? 1 : 0; });
}
