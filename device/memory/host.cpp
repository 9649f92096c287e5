// SPDX-License-Identifier: Apache-2.0
#include "device/memory/host.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/error.h"
#include "device/memory/range_map.h"
#include "device/memory/retired.h"
#include "device/process/init.h"
#include "device/process/soc.h"
#include "device/queue/callback.h"
#include "device/queue/progress.h"

namespace npu::device {
namespace {

struct Range {
  size_t bytes;      // as asked for
  size_t mapped;     // of pages; 0 for the client's own memory
  int device;        // whose kernels reach it; -1 for none
  size_t holds = 0;  // of recorded work
};

struct Registry {
  std::shared_mutex mutex;
  RangeMap<Range> allocated;  // malloc_host
  RangeMap<Range> reachable;  // map_host, which may lie in the others, and pin_host
  RangeMap<Range> held;       // freed, but recorded work names it
  RetiredMemory retired;
};

Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

constexpr size_t kPage = 4096;
constexpr int64_t kPatienceMs = 60'000;

void require_unregistered(const std::byte* begin, size_t bytes) {
  if (begin == nullptr || bytes == 0) fail(Code::kRtParamInvalid, "the host range to register is empty");
  if (registry().reachable.overlaps(begin, bytes))
    fail(Code::kRtParamInvalid, "the host range at {} overlaps one that is registered", fmt::ptr(begin));
}

// Unmapping under a queued copy would crash it.
void give_back(const std::byte* begin, size_t mapped) {
  registry().retired.retire([begin, mapped] { munmap(const_cast<std::byte*>(begin), mapped); });
}

}  // namespace

void* malloc_host(size_t bytes) {
  check_usable();
  registry().retired.reclaim();
  const size_t mapped = (bytes / kPage + 1) * kPage;
  void* memory =
      mapped > bytes ? mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) {
    fail(Code::kMemoryAllocation, "the machine gives no {} of host memory ({})", detail::to_size(bytes),
         std::strerror(errno));
  }
  madvise(memory, mapped, MADV_HUGEPAGE);
  std::unique_lock lock(registry().mutex);
  registry().allocated.emplace(static_cast<std::byte*>(memory), Range{bytes, mapped, -1});
  return memory;
}

void free_host(void* ptr) {
  check_process();
  Range range{};
  {
    std::unique_lock lock(registry().mutex);
    const auto at = registry().allocated.find(static_cast<const std::byte*>(ptr));
    if (at == registry().allocated.end())
      fail(Code::kRtParamInvalid, "{} is not the start of a block of aclrtMallocHost, or was freed before", ptr);
    if (registry().reachable.overlaps(at->first, at->second.bytes))
      fail(Code::kRtParamInvalid, "{} is registered for a device; call aclrtHostUnregister first", ptr);
    range = at->second;
    if (range.holds > 0) registry().held.emplace(at->first, range);
    registry().allocated.erase(at);
  }
  if (range.holds == 0) give_back(static_cast<const std::byte*>(ptr), range.mapped);
}

void map_host(void* ptr, size_t bytes, int device) {
  check_usable();
  check_device(device);
  const auto* begin = static_cast<std::byte*>(ptr);
  std::unique_lock lock(registry().mutex);
  require_unregistered(begin, bytes);
  if (registry().allocated.overlaps(begin, bytes) && !registry().allocated.covers(begin, bytes))
    fail(Code::kRtParamInvalid, "the host range of {} bytes at {} passes the end of its block of aclrtMallocHost",
         bytes, ptr);
  registry().reachable.emplace(begin, Range{bytes, 0, device});
}

void pin_host(void* ptr, size_t bytes) {
  check_usable();
  const auto* begin = static_cast<std::byte*>(ptr);
  std::unique_lock lock(registry().mutex);
  require_unregistered(begin, bytes);
  if (registry().allocated.overlaps(begin, bytes))
    fail(Code::kRtParamInvalid, "the host range at {} is of aclrtMallocHost, which is page-locked already", ptr);
  registry().reachable.emplace(begin, Range{bytes, 0, -1});
}

void unmap_host(void* ptr) {
  check_process();
  // The client may free the memory next, under a running kernel. Within a callback the work cannot end before this
  // thread goes on, and the client answers for it, as on hardware.
  if (!is_awaited_by_work() && !Fence::now().wait(kPatienceMs))
    fail(Code::kRtWaitTimeout, "work queued before has not ended within a minute; the memory at {} stays registered",
         ptr);
  std::unique_lock lock(registry().mutex);
  if (registry().reachable.erase(static_cast<const std::byte*>(ptr)) == 0)
    fail(Code::kRtParamInvalid, "{} is not the start of a host range registered before", ptr);
  detail::forget_blocks();
}

bool is_pinned(const void* ptr, size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(ptr);
  std::shared_lock lock(registry().mutex);
  return registry().allocated.covers(begin, bytes) || registry().reachable.covers(begin, bytes);
}

const void* detail::hold_host(const void* ptr) {
  std::unique_lock lock(registry().mutex);
  const auto at = registry().allocated.holding(ptr);
  if (at == registry().allocated.end()) return nullptr;
  ++at->second.holds;
  return at->first;
}

void detail::release_host(const void* begin) {
  const auto* first = static_cast<const std::byte*>(begin);
  size_t mapped = 0;
  {
    std::unique_lock lock(registry().mutex);
    const auto at = registry().held.find(first);
    if (at == registry().held.end()) {
      --registry().allocated.find(first)->second.holds;
      return;
    }
    if (--at->second.holds > 0) return;
    mapped = at->second.mapped;
    registry().held.erase(at);
  }
  give_back(first, mapped);
}

bool detail::is_held_after_free(const void* begin) {
  std::shared_lock lock(registry().mutex);
  return registry().held.find(static_cast<const std::byte*>(begin)) != registry().held.end();
}

Block detail::find_host(const void* ptr, size_t* padded) {
  std::shared_lock lock(registry().mutex);
  const auto at = registry().reachable.holding(ptr);
  if (at == registry().reachable.end() || at->second.device < 0) return {};
  *padded = at->second.bytes;
  return {const_cast<std::byte*>(at->first), at->second.bytes, at->second.device};
}

}  // namespace npu::device
