// SPDX-License-Identifier: Apache-2.0
#include "device/memory/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "device/process/status_page.h"

namespace npu::device {
namespace {

constexpr size_t kPage = 4096;
// Freed blocks from this size on go back to the machine; smaller ones stay committed, to be reused without page faults.
constexpr size_t kReturnSize = size_t{16} << 20;
constexpr size_t kNone = ~size_t{0};

size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

}  // namespace

int detail::make_memory_file(const char* name, size_t bytes) {
  const int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0) return fd;
  const int error = errno;
  if (fd >= 0) close(fd);
  fail(Code::kMemoryAllocation, "the system gives no shared memory of {} ({}); check `ulimit -a`", to_size(bytes),
       std::strerror(error));
}

std::byte* detail::map_shared(void* want, size_t bytes, int fd, int protection) {
  const int flags = MAP_SHARED | MAP_NORESERVE | (want != nullptr ? MAP_FIXED : 0);
  void* memory = mmap(want, bytes, protection, flags, fd, 0);
  if (memory == MAP_FAILED) {
    fail(Code::kMemoryAllocation, "the system cannot map {} ({}); lower ANYNPU_MEMORY or check `ulimit -v`",
         to_size(bytes), std::strerror(errno));
  }
  madvise(memory, bytes, MADV_DONTFORK);
  madvise(memory, bytes, MADV_DONTDUMP);  // a core file would be as large as the device
  madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

Arena::Arena(int device, size_t capacity, bool guard)
    : device_(device), alignment_(guard ? kPage : kMemoryAlignment), size_(capacity / kPage * kPage) {
  fd_ = detail::make_memory_file("anynpu-arena", size_);
  client_ = detail::map_shared(nullptr, size_, fd_, guard ? PROT_NONE : PROT_READ | PROT_WRITE);
  // Nobody needs a second view of memory that everybody may read.
  kernel_ = guard ? detail::map_shared(nullptr, size_, fd_, PROT_READ | PROT_WRITE) : client_;
  free_.emplace(0, size_);
  by_size_.emplace(size_, 0);
  counters(device_).capacity.store(size_, std::memory_order_relaxed);
}

size_t Arena::padded_size(size_t bytes) const { return round_up(std::max<size_t>(bytes, 1), alignment_); }

std::byte* Arena::allocate(size_t bytes) {
  if (bytes > size_) return nullptr;
  const size_t padded = padded_size(bytes);
  std::lock_guard lock(mutex_);
  if (!retired_.empty()) reclaim();
  if (padded > size_ - used_) return nullptr;
  const size_t offset = take(padded);
  if (offset == kNone) return nullptr;
  live_.emplace(offset, Live{bytes, padded});
  set_used(used_ + padded);
  return client_ + offset;
}

// The smallest free run that fits, lowest address first: recycled, already committed memory before fresh one.
size_t Arena::take(size_t padded) {
  const auto fit = by_size_.lower_bound({padded, 0});
  if (fit == by_size_.end()) return kNone;
  const auto [size, offset] = *fit;
  erase_free(free_.find(offset));
  if (size > padded) {
    free_.emplace(offset + padded, size - padded);
    by_size_.emplace(size - padded, offset + padded);
  }
  return offset;
}

void Arena::erase_free(std::map<size_t, size_t>::iterator at) {
  by_size_.erase({at->second, at->first});
  free_.erase(at);
}

void Arena::give_back(size_t offset, size_t padded) {
  if (padded >= kReturnSize) {
    fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(round_up(offset, kPage)),
              static_cast<off_t>((offset + padded) / kPage * kPage - round_up(offset, kPage)));
  }
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + padded == next->first) {
    padded += next->second;
    erase_free(next++);
  }
  if (next != free_.begin()) {
    if (const auto before = std::prev(next); before->first + before->second == offset) {
      offset = before->first;
      padded += before->second;
      erase_free(before);
    }
  }
  free_.emplace(offset, padded);
  by_size_.emplace(padded, offset);
}

Arena::Refusal Arena::deallocate(const void* ptr) {
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(ptr) - client_);
  std::lock_guard lock(mutex_);
  const auto at = live_.find(offset);
  if (at == live_.end()) {
    const auto above = live_.upper_bound(offset);
    const bool inside = above != live_.begin() && offset < std::prev(above)->first + std::prev(above)->second.padded;
    return inside ? Refusal::kInside : Refusal::kNotLive;
  }
  end_block(offset, at->second);
  live_.erase(at);
  return Refusal::kNone;
}

// What recorded work names stays taken.
void Arena::end_block(size_t offset, const Live& block) {
  if (block.holds > 0) {
    held_.emplace(offset, block);
    return;
  }
  set_used(used_ - block.padded);
  retire(offset, block.padded);
}

const void* Arena::hold(const void* ptr) {
  std::lock_guard lock(mutex_);
  auto at = live_.upper_bound(offset_of(ptr));
  if (at == live_.begin()) return nullptr;
  --at;
  if (offset_of(ptr) >= at->first + at->second.padded) return nullptr;
  ++at->second.holds;
  return client_ + at->first;
}

void Arena::release(const void* begin) {
  const size_t offset = offset_of(begin);
  std::lock_guard lock(mutex_);
  const auto at = held_.find(offset);
  if (at == held_.end()) {
    --live_.at(offset).holds;
    return;
  }
  if (--at->second.holds > 0) return;
  end_block(offset, at->second);
  held_.erase(at);
}

bool Arena::is_held_after_free(const void* begin) const {
  std::lock_guard lock(mutex_);
  return held_.contains(offset_of(begin));
}

// Memory goes back at once when nothing is queued, which is the usual case.
void Arena::retire(size_t offset, size_t padded) {
  Fence fence = Fence::now();
  if (fence.passed()) return give_back(offset, padded);
  waiting_ += padded;
  retired_.push_back({offset, padded, std::move(fence)});
}

void Arena::reclaim() {
  std::erase_if(retired_, [this](Retired& retired) {
    if (!retired.fence.passed()) return false;
    give_back(retired.offset, retired.padded);
    waiting_ -= retired.padded;
    return true;
  });
}

bool Arena::wait_for_freed(int64_t timeout_ms) {
  Fence oldest;
  {
    std::lock_guard lock(mutex_);
    if (retired_.empty()) return false;
    oldest = retired_.front().fence;
  }
  return oldest.wait(timeout_ms);
}

void Arena::release_all() {
  std::lock_guard lock(mutex_);
  for (const auto& [offset, block] : live_) end_block(offset, block);
  live_.clear();
  reclaim();
}

bool Arena::charge(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > size_ - used_) return false;
  set_used(used_ + bytes);
  charged_ += bytes;
  return true;
}

void Arena::uncharge(size_t bytes) {
  std::lock_guard lock(mutex_);
  set_used(used_ - bytes);
  charged_ -= bytes;
}

Block Arena::find(const void* ptr, size_t* padded) const {
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(ptr) - client_);
  std::lock_guard lock(mutex_);
  auto at = live_.upper_bound(offset);
  if (at == live_.begin()) return {};
  --at;
  if (offset >= at->first + at->second.padded) return {};
  *padded = at->second.padded;
  return {client_ + at->first, at->second.bytes, device_};
}

MemoryInfo Arena::info() const {
  std::lock_guard lock(mutex_);
  return {size_, used_, high_water_, waiting_};
}

// Pages of freed blocks that stay with the file may hide as much of what was not written: they are used again.
size_t Arena::unwritten() const {
  struct stat file {};
  const size_t given = fstat(fd_, &file) == 0 ? static_cast<size_t>(file.st_blocks) * 512 : 0;
  std::lock_guard lock(mutex_);
  const size_t blocks = used_ - charged_;
  return blocks - std::min(blocks, given);
}

void Arena::reset_high_water() {
  std::lock_guard lock(mutex_);
  high_water_ = used_;
  counters(device_).high_water.store(used_, std::memory_order_relaxed);
}

void Arena::set_used(size_t used) {
  used_ = used;
  DeviceCounters& counts = counters(device_);
  counts.used.store(used, std::memory_order_relaxed);
  if (used <= high_water_) return;
  high_water_ = used;
  counts.high_water.store(used, std::memory_order_relaxed);
}

}  // namespace npu::device
