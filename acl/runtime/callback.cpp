// SPDX-License-Identifier: Apache-2.0
// Host functions in streams.
#include "device/queue/callback.h"

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "device/context/context.h"
#include "device/queue/stream.h"

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return call("aclrtSubscribeReport", [&] { device::subscribe(threadId, device::stream_from_handle(stream)); });
}
aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return call("aclrtUnSubscribeReport", [&] { device::unsubscribe(threadId, device::stream_from_handle(stream)); });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType, aclrtStream stream) {
  return call("aclrtLaunchCallback", [&] {
    given(fn, "fn");
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK)
      fail(Code::kRtParamInvalid, "blockType is {}; it is 0 (do not block) or 1 (block the stream)",
           static_cast<int>(blockType));
    device::launch_callback(device::stream_from_handle(stream), fn, userData, blockType == ACL_CALLBACK_BLOCK);
  });
}
aclError aclrtProcessReport(int32_t timeout) {
  // A thread that serves callbacks calls this in a loop: no callback within the time is the usual answer.
  return ask("aclrtProcessReport", Code::kReportTimeout, [&] { device::process_report(milliseconds(timeout)); });
}
aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc func, void* args) {
  return call("aclrtLaunchHostFunc", [&] {
    given(func, "func");
    device::launch_host_function(device::stream_from_handle(stream), func, args);
  });
}
