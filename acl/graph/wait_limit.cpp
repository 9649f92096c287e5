// SPDX-License-Identifier: Apache-2.0
#include "device/queue/wait_limit.h"

#include "acl/call.h"
#include "anynpu/graph.h"

aclError anynpu_set_wait_limits(int64_t stream_ms, int64_t event_ms) {
  return npu::acl::call("anynpu_set_wait_limits", [&] { npu::device::set_wait_limits(stream_ms, event_ms); });
}
