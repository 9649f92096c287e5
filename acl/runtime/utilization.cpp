// SPDX-License-Identifier: Apache-2.0
// How busy a device is.
#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "device/process/soc.h"
#include "device/process/status_page.h"

namespace npu::acl {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kWindow{50};
constexpr std::chrono::seconds kTooOld{1};

struct Sample {
  Clock::time_point time;
  uint64_t busy_ns = 0;  // of all processes
};

Sample sample(int device) {
  Sample out{Clock::now(), 0};
  for (const device::ProcessStatus& process : device::read_status_pages())
    for (const device::DeviceStatus& status : process.devices)
      if (status.device == device) out.busy_ns += status.busy_ns;
  return out;
}

/// Time in tasks counts when a task ends, and processes that end take their time with them: neither end is exact.
int32_t percent(const Sample& from, const Sample& to) {
  const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(to.time - from.time).count();
  if (passed <= 0 || to.busy_ns <= from.busy_ns) return 0;
  return static_cast<int32_t>(
      std::min<uint64_t>(100, (to.busy_ns - from.busy_ns) * 100 / static_cast<uint64_t>(passed)));
}

int32_t utilization(int device) {
  static std::mutex& mutex = *new std::mutex;
  static auto& last = *new std::map<int, Sample>;
  const std::lock_guard lock(mutex);
  Sample now = sample(device);
  auto [from, fresh] = last.try_emplace(device, now);
  const auto age = now.time - from->second.time;
  if (fresh || age > kTooOld || age < kWindow) {
    from->second = now;
    std::this_thread::sleep_for(kWindow);
    now = sample(device);
  }
  return percent(std::exchange(from->second, now), now);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo) {
  return call("aclrtGetDeviceUtilizationRate", [&] {
    device::check_device(deviceId);
    given(utilizationInfo, "utilizationInfo");
    const int32_t busy = utilization(deviceId);
    *utilizationInfo = {busy, busy, -1, -1, nullptr};
  });
}
