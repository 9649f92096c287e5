// SPDX-License-Identifier: Apache-2.0
#include "device/memory/available.h"

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "base/setting.h"
#include "device/memory/arena_table.h"
#include "device/memory/capacity.h"
#include "device/memory/cgroup.h"

namespace npu::device {
namespace {

NPU_SETTING(std::string, margin_setting, "ANYNPU_MEMORY_MARGIN", "",
            "Memory that devices leave to other programs, as in 512M: less is never reported as free, and a request "
            "that would take it is refused; empty: 5 % of the machine's or cgroup's. Not used under ANYNPU_MEMORY.");

// Requests below this are looked at when they have added up to it.
constexpr size_t kLookedAt = size_t{16} << 20;

uint64_t machine_available() { return number_in_table("MemAvailable:", "/proc/meminfo") << 10; }

size_t margin() {
  const std::string& text = margin_setting();
  if (text.empty()) return machine_memory() / 20;
  const std::optional<size_t> bytes = parse_size(text);
  if (!bytes) fail(Code::kInvalidParam, "ANYNPU_MEMORY_MARGIN={} is not a size; write it as 512M or 2G", text);
  return *bytes;
}

}  // namespace

size_t obtainable_memory() {
  if (!detail::memory_setting().empty()) return SIZE_MAX;
  const uint64_t available = std::min(machine_available(), cgroup_memory().left);
  const uint64_t promised = margin() + detail::unwritten_memory();
  return available - std::min(available, promised);
}

void check_obtainable(int device, size_t bytes) {
  static std::atomic<size_t> unseen{0};
  if (unseen.fetch_add(bytes, std::memory_order_relaxed) + bytes < kLookedAt) return;
  unseen.store(0, std::memory_order_relaxed);
  const size_t obtainable = obtainable_memory();
  if (bytes <= obtainable) return;
  fail(Code::kMemoryAllocation,
       "device {} is out of memory: {} requested, the machine or its cgroup can give {} ({} are left to other "
       "programs, ANYNPU_MEMORY_MARGIN); use a smaller batch, end other programs, or set ANYNPU_MEMORY to take it "
       "regardless",
       device, detail::to_size(bytes), detail::to_size(obtainable), detail::to_size(margin()));
}

}  // namespace npu::device
