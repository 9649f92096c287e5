// SPDX-License-Identifier: Apache-2.0
#include "device/memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/setting.h"
#include "device/arena.h"
#include "device/capacity.h"
#include "device/host_memory.h"
#include "device/imported_memory.h"
#include "device/init.h"
#include "device/soc.h"
#include "device/virtual_memory.h"

namespace npu::device {
namespace {

NPU_SETTING(bool, guard_setting, "ANYNPU_GUARD", false,
            "Make device memory unreadable for host code, so that a forgotten copy stops at once.");

constinit std::array<std::atomic<Arena*>, kMaxDevices> arenas{};
std::mutex make_mutex;

// How long an allocation waits for queued work before it gives up. It must end: the work may wait for this very thread.
constexpr int64_t kPatienceMs = 5000;

using detail::arena_of;

size_t used_by_process() {
  size_t sum = 0;
  for (const auto& slot : arenas) {
    if (const Arena* arena = slot.load(std::memory_order_acquire)) sum += arena->info().used;
  }
  return sum;
}

// Blocks this thread met lately, so that the usual question costs no lock. A slot is a megabyte of addresses: tensors
// of one call seldom push each other out, also those a power of two apart. Valid while no live range has ended since.
struct Met {
  Block block;
  size_t padded = 0;
  uint64_t generation = ~uint64_t{0};
};
constexpr size_t kMetSlots = 64;
constinit thread_local std::array<Met, kMetSlots> met{};
constinit std::atomic<uint64_t> generation{0};

Met& met_slot(const void* ptr) {
  const uintptr_t megabyte = reinterpret_cast<uintptr_t>(ptr) >> 20;
  return met[(megabyte ^ megabyte / kMetSlots) & (kMetSlots - 1)];
}

Block look_up(const void* ptr, size_t* padded) {
  const Arena* arena = arena_of(ptr);
  if (arena != nullptr) return arena->find(ptr, padded);
  if (const Block mapped = detail::find_mapped(ptr, padded)) return mapped;
  if (const Block imported = detail::find_imported(ptr, padded)) return imported;
  return detail::find_host(ptr, padded);
}

// The block whose padded range holds `ptr`.
const Block* meet(const void* ptr) {
  Met& slot = met_slot(ptr);
  const uint64_t now = generation.load(std::memory_order_acquire);
  const auto inside = [&] {
    return static_cast<size_t>(static_cast<const std::byte*>(ptr) - slot.block.begin) < slot.padded;
  };
  if (slot.generation == now && inside()) [[likely]]
    return &slot.block;
  slot.padded = 0;
  slot.block = look_up(ptr, &slot.padded);
  slot.generation = now;
  return slot.block ? &slot.block : nullptr;
}

[[noreturn]] void refuse_dead(const void* ptr, const char* what) {
  if (ptr == nullptr) fail(Code::kRtParamInvalid, "{} is null; pass memory of aclrtMalloc", what);
  if (is_device_address(ptr)) {
    fail(Code::kRtParamInvalid, "{} {} points to device memory that was freed, or never allocated", what, ptr);
  }
  if (is_pinned(ptr, 1)) {
    fail(Code::kRtParamInvalid, "{} {} is page-locked host memory (aclrtMallocHost); pass memory of aclrtMalloc", what,
         ptr);
  }
  fail(Code::kRtParamInvalid, "{} {} is not device memory (a host address?); pass memory of aclrtMalloc", what, ptr);
}

}  // namespace

bool detail::guard_mode = false;

Arena* detail::made_arena(int device) {
  return device < 0 || device >= device_count() ? nullptr
                                                : arenas[static_cast<size_t>(device)].load(std::memory_order_acquire);
}

Arena* detail::arena_of(const void* ptr) {
  for (int device = 0, count = device_count(); device < count; ++device) {
    Arena* arena = made_arena(device);
    if (arena != nullptr && arena->contains(ptr)) return arena;
  }
  return nullptr;
}

void* detail::resolve_guarded(const void* ptr) {
  const Arena* arena = arena_of(ptr);
  return arena != nullptr ? arena->to_kernel(ptr) : resolve_mapped(ptr);
}

void detail::forget_blocks() { generation.fetch_add(1, std::memory_order_acq_rel); }

std::string detail::to_size(size_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  const double value = static_cast<double>(bytes);
  if (value < 0x1p20) return fmt::format("{:.1f} KiB", value * 0x1p-10);
  return value < 0x1p30 ? fmt::format("{:.1f} MiB", value * 0x1p-20) : fmt::format("{:.2f} GiB", value * 0x1p-30);
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

void* allocate(int device, size_t bytes) {
  check_usable();
  Arena& arena = detail::arena(device);
  if (const size_t limit = process_capacity();
      limit != SIZE_MAX && bytes > limit - std::min(limit, used_by_process())) {
    fail(Code::kMemoryAllocation,
         "{} asked on device {}, but all devices of this process together use {} of the {} this "
         "machine can give; use fewer devices or a smaller batch",
         detail::to_size(bytes), device, detail::to_size(used_by_process()), detail::to_size(limit));
  }
  std::byte* block = arena.allocate(bytes);
  while (block == nullptr && arena.wait_for_freed(kPatienceMs)) block = arena.allocate(bytes);
  if (block == nullptr) detail::refuse_allocation(device, bytes);
  return block;
}

void deallocate(void* ptr) {
  check_process();
  Arena* arena = arena_of(ptr);
  if (arena == nullptr) {
    if (is_device_address(ptr)) {
      fail(Code::kRtParamInvalid, "{} is mapped virtual memory; free it with aclrtUnmapMem", ptr);
    }
    refuse_dead(ptr, "the address to free,");
  }
  switch (arena->deallocate(ptr)) {
    case Arena::Refusal::kNone: return detail::forget_blocks();
    case Arena::Refusal::kInside:
      fail(Code::kRtParamInvalid, "{} lies inside a block; free the address that aclrtMalloc returned", ptr);
    case Arena::Refusal::kNotLive: fail(Code::kRtParamInvalid, "{} was freed before, or never allocated", ptr);
  }
}

MemoryInfo memory_info(int device) {
  check_process();
  return detail::arena(device).info();
}

void reset_high_water(int device) {
  check_process();
  detail::arena(device).reset_high_water();
}

void release_all(int device) {
  check_process();
  check_device(device);
  Arena* arena = arenas[static_cast<size_t>(device)].load(std::memory_order_acquire);
  if (arena == nullptr) return;
  arena->release_all();
  detail::forget_blocks();
}

Block find_block(const void* ptr) {
  const Block* block = meet(ptr);
  return block == nullptr ? Block{} : *block;
}

void check_live(const void* ptr, size_t bytes, int device, const char* what) {
  if (bytes == 0) return;
  const Block* block = meet(ptr);
  if (block == nullptr) [[unlikely]]
    refuse_dead(ptr, what);
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(ptr) - block->begin);
  if (offset > block->bytes || bytes > block->bytes - offset) [[unlikely]] {
    fail(Code::kRtParamInvalid, "{} needs {} at {}, but its block of {} ends {} before that", what,
         detail::to_size(bytes), ptr, detail::to_size(block->bytes), detail::to_size(offset + bytes - block->bytes));
  }
  if (device != kAnyDevice && block->device != device) [[unlikely]] {
    fail(Code::kRtParamInvalid, "{} {} is memory of device {}, but the stream is on device {}; copy it there first",
         what, ptr, block->device, device);
  }
}

bool is_device_address(const void* ptr) {
  size_t padded = 0;
  return arena_of(ptr) != nullptr || detail::is_reserved(ptr) || detail::find_imported(ptr, &padded);
}

}  // namespace npu::device
