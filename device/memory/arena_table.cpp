// SPDX-License-Identifier: Apache-2.0
#include "device/memory/arena_table.h"

#include <array>
#include <atomic>
#include <mutex>
#include <span>
#include <string>

#include "base/error.h"
#include "base/setting.h"
#include "device/memory/capacity.h"
#include "device/process/init.h"
#include "device/process/soc.h"

namespace npu::device {
namespace {

NPU_SETTING(bool, guard_setting, "ANYNPU_GUARD", false,
            "Make device memory unreadable for host code, so that a forgotten copy stops at once.");

constinit std::array<std::atomic<Arena*>, kMaxDevices> arenas{};
std::mutex make_mutex;

}  // namespace

Arena* detail::made_arena(int device) {
  return device < 0 || device >= device_count() ? nullptr
                                                : arenas[static_cast<size_t>(device)].load(std::memory_order_acquire);
}

namespace {

template <class F>
Arena* find_arena(F&& wanted) {
  for (int device = 0, count = device_count(); device < count; ++device) {
    Arena* arena = detail::made_arena(device);
    if (arena != nullptr && wanted(*arena)) return arena;
  }
  return nullptr;
}

}  // namespace

Arena* detail::arena_of(const void* ptr) {
  return find_arena([ptr](const Arena& arena) { return arena.contains(ptr); });
}

Arena* detail::arena_of_kernel(const void* ptr) {
  if (!guard_mode) return nullptr;
  return find_arena([ptr](const Arena& arena) { return arena.contains_kernel(ptr); });
}

Arena& detail::arena(int device) {
  check_device(device);
  auto& slot = arenas[static_cast<size_t>(device)];
  if (Arena* made = slot.load(std::memory_order_acquire)) [[likely]]
    return *made;
  start_process();
  std::lock_guard lock(make_mutex);
  if (Arena* made = slot.load(std::memory_order_acquire)) return *made;
  static std::once_flag once;
  std::call_once(once, [] { guard_mode = guard_setting(); });
  auto* made = new Arena(device, device_capacity(), guard_mode);
  slot.store(made, std::memory_order_release);
  return *made;
}

size_t detail::used_memory() {
  size_t sum = 0;
  for (const auto& slot : std::span(arenas).first(static_cast<size_t>(device_count()))) {
    if (const Arena* arena = slot.load(std::memory_order_acquire)) sum += arena->info().used;
  }
  return sum;
}

size_t detail::unwritten_memory() {
  size_t sum = 0;
  for (const auto& slot : std::span(arenas).first(static_cast<size_t>(device_count()))) {
    if (const Arena* arena = slot.load(std::memory_order_acquire)) sum += arena->unwritten();
  }
  return sum;
}

void detail::refuse_allocation(int device, size_t bytes) {
  const MemoryInfo info = arena(device).info();
  std::string more;
  if (info.waiting > 0) more = fmt::format(", {} freed but still held by queued work", to_size(info.waiting));
  if (bytes <= info.free()) more += ", no free run of addresses is long enough";
  fail(Code::kMemoryAllocation,
       "device {} is out of memory: {} asked, {} of {} in use{}; use a smaller batch, free cached memory, or raise "
       "ANYNPU_MEMORY",
       device, to_size(bytes), to_size(info.used), to_size(info.capacity), more);
}

}  // namespace npu::device
