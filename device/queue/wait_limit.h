// SPDX-License-Identifier: Apache-2.0
// How long the host waits for work of a device. A client gives a limit with a call, or one for the process that holds
// wherever it gives none.
#pragma once

#include <cstdint>
#include <string>

namespace npu::device {

struct WaitLimit {
  int64_t milliseconds = -1;  ///< -1: none
  const char* option = "";    ///< where it was set; "" for an argument of the call

  WaitLimit(int64_t ms) : milliseconds(ms) {}  // NOLINT: a number is a limit
  WaitLimit(int64_t ms, const char* option_name) : milliseconds(ms), option(option_name) {}
  bool none() const { return milliseconds < 0; }
};

/// "600 ms (option stream_sync_timeout)", for error texts.
std::string to_string(const WaitLimit& limit);

/// Those of the process. No limit until they are set.
WaitLimit stream_wait_limit();
WaitLimit event_wait_limit();
/// Milliseconds; -1 and 0 for no limit. Raises 107000 for other negative numbers, and changes nothing then.
void set_wait_limits(int64_t stream_ms, int64_t event_ms);

/// Seconds that a wait within a stream may last before its task fails with 107019 (aclrtSetOpWaitTimeout); 0: no limit.
uint32_t op_wait_timeout();
void set_op_wait_timeout(uint32_t seconds);

}  // namespace npu::device
