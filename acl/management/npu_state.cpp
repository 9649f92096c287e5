// SPDX-License-Identifier: Apache-2.0
// How busy an NPU is follows from two looks at the time its processes spent in tasks, a tenth of a second apart. One
// pair of looks answers for all NPUs during a quarter of a second: monitors ask for one after the other.
#include "acl/management/npu_state.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"
#include "device/memory/capacity.h"
#include "device/process/soc.h"
#include "device/process/status_page.h"

namespace npu::acl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooks{100}, kValid{250};

struct Look {
  Clock::time_point time;
  std::map<std::pair<pid_t, int>, uint64_t> busy_ns;  // by process and NPU
};

Look look() {
  Look now{Clock::now(), {}};
  for (const device::ProcessStatus& process : device::read_status_pages()) {
    for (const device::DeviceStatus& status : process.devices)
      now.busy_ns[{process.pid, status.device}] = status.busy_ns;
  }
  return now;
}

/// Percent of the time between two looks, by NPU. A process that came between them counts from its own begin.
std::map<int, unsigned> busy_between(const Look& before, const Look& after) {
  const double passed = std::chrono::duration<double, std::nano>(after.time - before.time).count();
  std::map<int, double> share;
  for (const auto& [key, busy] : after.busy_ns) {
    const auto at = before.busy_ns.find(key);
    const uint64_t earlier = at == before.busy_ns.end() ? busy : std::min(at->second, busy);
    share[key.second] += static_cast<double>(busy - earlier) / std::max(passed, 1.0);
  }
  std::map<int, unsigned> percent;
  for (const auto& [npu, part] : share) percent[npu] = static_cast<unsigned>(std::lround(100 * std::min(part, 1.0)));
  return percent;
}

unsigned busy_percent(int npu) {
  static std::mutex& mutex = *new std::mutex;
  static auto& percent = *new std::map<int, unsigned>;
  static Clock::time_point made;
  const std::lock_guard lock(mutex);
  if (made == Clock::time_point() || Clock::now() - made > kValid) {
    const Look before = look();
    if (!before.busy_ns.empty()) std::this_thread::sleep_for(kBetweenLooks);
    percent = busy_between(before, before.busy_ns.empty() ? before : look());
    made = Clock::now();
  }
  return percent[npu];
}

}  // namespace

unsigned NpuState::memory_percent() const {
  if (capacity == 0) return 0;
  return static_cast<unsigned>(std::lround(100 * static_cast<double>(used) / static_cast<double>(capacity)));
}

NpuState npu_state(int npu) {
  device::check_device(npu);
  NpuState state{device::device_capacity(), 0, {}};
  for (const device::ProcessStatus& process : device::read_status_pages()) {
    for (const device::DeviceStatus& status : process.devices) {
      if (status.device != npu) continue;
      state.used += status.used;
      state.processes.push_back({process.pid, status.used});
    }
  }
  return state;
}

unsigned utilization(int npu, int type) {
  enum Type { kMemory = 1, kCores = 2, kDeviceMemory = 6, kVectorCores = 12, kNpu = 13 };
  device::check_device(npu);
  switch (type) {
    case kMemory:
    case kDeviceMemory: return npu_state(npu).memory_percent();
    case kCores:
    case kVectorCores:
    case kNpu: return busy_percent(npu);
    default: break;
  }
  fail(Code::kFeatureUnsupported,
       "type is {}: a software NPU has shares of its memory (1, 6) and of the time of its cores (2, 12, 13)", type);
}

std::string chip_name() {
  const std::string name = device::soc().name, prefix = "Ascend";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

void refuse_hardware(int npu, const char* figure) {
  device::check_device(npu);
  fail(Code::kFeatureUnsupported, "{} is a figure of hardware, which a software NPU has not; `npu-smi info` shows NA",
       figure);
}

}  // namespace npu::acl
