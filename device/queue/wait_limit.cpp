// SPDX-License-Identifier: Apache-2.0
#include "device/queue/wait_limit.h"

#include <atomic>

#include "base/error.h"

namespace npu::device {
namespace {

constexpr const char* kStreamOption = "stream_sync_timeout";
constexpr const char* kEventOption = "event_sync_timeout";

constinit std::atomic<int64_t> stream_limit{-1};
constinit std::atomic<int64_t> event_limit{-1};
constinit std::atomic<uint32_t> wait_timeout{0};

int64_t checked(int64_t ms, const char* option) {
  if (ms < -1) fail(Code::kRtParamInvalid, "{} is {}; give milliseconds, or -1 or 0 for no limit", option, ms);
  return ms == 0 ? -1 : ms;
}

}  // namespace

std::string to_string(const WaitLimit& limit) {
  if (*limit.option == '\0') return fmt::format("{} ms", limit.milliseconds);
  return fmt::format("{} ms (option {})", limit.milliseconds, limit.option);
}

WaitLimit stream_wait_limit() { return {stream_limit.load(std::memory_order_relaxed), kStreamOption}; }
WaitLimit event_wait_limit() { return {event_limit.load(std::memory_order_relaxed), kEventOption}; }

void set_wait_limits(int64_t stream_ms, int64_t event_ms) {
  const int64_t stream = checked(stream_ms, kStreamOption), event = checked(event_ms, kEventOption);
  stream_limit = stream;
  event_limit = event;
}

uint32_t op_wait_timeout() { return wait_timeout.load(std::memory_order_relaxed); }
void set_op_wait_timeout(uint32_t seconds) { wait_timeout.store(seconds, std::memory_order_relaxed); }

}  // namespace npu::device
