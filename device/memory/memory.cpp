// SPDX-License-Identifier: Apache-2.0
#include "device/memory/memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "device/memory/arena_table.h"
#include "device/memory/available.h"
#include "device/memory/capacity.h"
#include "device/memory/host.h"
#include "device/memory/import.h"
#include "device/memory/virtual.h"
#include "device/process/init.h"
#include "device/process/soc.h"
#include "device/trace/recorder.h"

namespace npu::device {
namespace {

// How long an allocation waits for queued work before it gives up. It must end: the work may wait for this very thread.
constexpr int64_t kPatienceMs = 5000;

// Blocks this thread met lately, so that the usual question costs no lock. A slot is a megabyte of addresses: tensors
// of one call seldom push each other out, also those a power of two apart. Valid while no live range has ended since.
struct Met {
  Block block;
  size_t padded = 0;
  uint64_t generation = ~uint64_t{0};
};
constexpr size_t kMetSlots = 64;
constinit thread_local std::array<Met, kMetSlots> met{};

Met& met_slot(const void* ptr) {
  const uintptr_t megabyte = reinterpret_cast<uintptr_t>(ptr) >> 20;
  return met[(megabyte ^ megabyte / kMetSlots) & (kMetSlots - 1)];
}

Block look_up(const void* ptr, size_t* padded) {
  const Arena* arena = detail::arena_of(ptr);
  if (arena != nullptr) return arena->find(ptr, padded);
  if (const Block mapped = detail::find_mapped(ptr, padded)) return mapped;
  if (const Block imported = detail::find_imported(ptr, padded)) return imported;
  return detail::find_host(ptr, padded);
}

// The block whose padded range holds `ptr`.
const Block* meet(const void* ptr) {
  Met& slot = met_slot(ptr);
  const uint64_t now = detail::block_generation.load(std::memory_order_acquire);
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
    fail(Code::kRtParamInvalid,
         "{} {} is page-locked host memory, which the device does not reach; pass memory of aclrtMalloc", what, ptr);
  }
  fail(Code::kRtParamInvalid, "{} {} is not device memory (a host address?); pass memory of aclrtMalloc", what, ptr);
}

/// What was done with a block since `start`, 0 when nothing was recorded then.
void record(int64_t start, bool is_free, const Block& block) {
  if (start == 0 || !trace::on()) return;
  trace::MemoryRecord record;
  record.start = start, record.end = trace::now();
  record.address = reinterpret_cast<uintptr_t>(block.begin), record.bytes = block.bytes;
  record.used = detail::arena(block.device).info().used;
  record.device = block.device, record.is_free = is_free;
  const trace::Launch here = trace::launch_here();
  record.thread = here.thread, record.call = here.call;
  trace::add(record);
}

int64_t start_recorded() { return trace::on() ? trace::now() : 0; }

}  // namespace

void* detail::resolve_guarded(const void* ptr) {
  const Arena* arena = arena_of(ptr);
  return arena != nullptr ? arena->to_kernel(ptr) : resolve_mapped(ptr);
}

void* allocate(int device, size_t bytes) {
  check_usable();
  Arena& arena = detail::arena(device);
  const int64_t start = start_recorded();
  if (const size_t limit = process_capacity();
      limit != SIZE_MAX && bytes > limit - std::min(limit, detail::used_memory())) {
    fail(Code::kMemoryAllocation,
         "{} asked on device {}, but all devices of this process together use {} of the {} this "
         "machine can give; use fewer devices or a smaller batch",
         detail::to_size(bytes), device, detail::to_size(detail::used_memory()), detail::to_size(limit));
  }
  check_obtainable(device, bytes);
  std::byte* block = arena.allocate(bytes);
  while (block == nullptr && arena.wait_for_freed(kPatienceMs)) block = arena.allocate(bytes);
  if (block == nullptr) detail::refuse_allocation(device, bytes);
  NPU_DEVICE_LOG(kDebug, "DEVMM", device, "{} at {}", detail::to_size(bytes), static_cast<void*>(block));
  record(start, false, {block, bytes, device});
  return block;
}

void deallocate(void* ptr) {
  check_process();
  Arena* arena = detail::arena_of(ptr);
  if (arena == nullptr) {
    if (is_device_address(ptr)) {
      fail(Code::kRtParamInvalid, "{} is mapped virtual memory; free it with aclrtUnmapMem", ptr);
    }
    refuse_dead(ptr, "the address to free,");
  }
  const int64_t start = start_recorded();
  const Block block = start == 0 ? Block{} : find_block(ptr);
  switch (arena->deallocate(ptr)) {
    case Arena::Refusal::kNone: detail::forget_blocks(); return record(start, true, block);
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
  Arena* arena = detail::made_arena(device);
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
  return detail::arena_of(ptr) != nullptr || detail::is_reserved(ptr) || detail::find_imported(ptr, &padded);
}

}  // namespace npu::device
