// SPDX-License-Identifier: Apache-2.0
#include "device/memory/virtual.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "device/memory/arena_table.h"
#include "device/memory/available.h"
#include "device/memory/range_map.h"
#include "device/memory/retired.h"
#include "device/process/handle.h"
#include "device/process/init.h"
#include "device/process/soc.h"
#include "device/queue/callback.h"
#include "device/queue/progress.h"

namespace npu::device {
namespace {

constexpr int64_t kPatienceMs = 60'000;
constexpr char kFileName[] = "anynpu-physical";

struct Physical {
  Physical(int its_device, size_t size, int file, bool is_charged)
      : device(its_device), bytes(size), fd(file), charged(is_charged) {}
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;
  ~Physical() {
    close(fd);
    if (charged) detail::arena(device).uncharge(bytes);
  }
  const int device;
  const size_t bytes;
  const int fd;
  const bool charged;  // imported memory counts where it was made
};
using PhysicalPtr = std::shared_ptr<Physical>;
using Table = HandleTable<PhysicalPtr, HandleKind::kPhysical>;

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

struct Range {
  size_t bytes;
  std::byte* kernel;                         // the same range for kernels; the client's own outside guard mode
  std::map<std::byte*, PhysicalPtr> mapped;  // by first byte
};

struct Registry {
  std::mutex mutex;
  RangeMap<Range, std::byte> ranges;
  RetiredMemory retired;  // ranges that were released
};

Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

void* reserve(void* want, size_t bytes, int protection = PROT_NONE) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (want != nullptr ? MAP_FIXED : 0);
  void* memory = mmap(want, bytes, protection, flags, -1, 0);
  if (memory == MAP_FAILED) {
    fail(Code::kMemoryAllocation, "the system cannot reserve {} of addresses ({}); check `ulimit -v`",
         detail::to_size(bytes), std::strerror(errno));
  }
  madvise(memory, bytes, MADV_DONTFORK);
  return memory;
}

// A PROT_NONE range of `bytes` that starts at a multiple of `alignment`: reserve more, cut off both ends.
std::byte* reserve_aligned(size_t bytes, size_t alignment) {
  auto* begin = static_cast<std::byte*>(reserve(nullptr, bytes + alignment));
  auto* aligned =
      reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(begin) + alignment - 1) / alignment * alignment);
  if (aligned > begin) munmap(begin, static_cast<size_t>(aligned - begin));
  if (const auto rest = static_cast<size_t>(begin + alignment - aligned); rest > 0) munmap(aligned + bytes, rest);
  return aligned;
}

size_t checked_granules(size_t bytes, const char* what) {
  if (bytes == 0 || bytes % kGranularity != 0) {
    fail(Code::kRtParamInvalid, "{} of {} bytes is not a positive multiple of {} (2 MiB)", what, bytes, kGranularity);
  }
  return bytes;
}

void* add_physical(PhysicalPtr physical) {
  return table().create([&](PhysicalPtr& slot, void*) { slot = std::move(physical); });
}

// Whether the file behind `fd` is one of ours.
bool is_physical_file(int fd) {
  char target[64] = {};
  const ssize_t length = readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), target, sizeof(target) - 1);
  return length > 0 && std::string_view(target).starts_with(std::string("/memfd:") + kFileName);
}

}  // namespace

void* reserve_address(size_t bytes, size_t alignment, void* want) {
  check_usable();
  detail::start_process();
  if (bytes == 0) fail(Code::kRtParamInvalid, "the address range to reserve has no bytes");
  if (alignment != 0 && !std::has_single_bit(alignment)) {
    fail(Code::kRtParamInvalid, "alignment {} is not a power of two", alignment);
  }
  detail::arena(0);  // fixes the guard mode
  bytes = (bytes + kGranularity - 1) / kGranularity * kGranularity;
  std::byte* begin = nullptr;
  if (want != nullptr) {
    void* memory =
        mmap(want, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == want) begin = static_cast<std::byte*>(memory);
    if (memory != want && memory != MAP_FAILED) munmap(memory, bytes);
  }
  if (begin == nullptr) begin = reserve_aligned(bytes, std::max(alignment, kGranularity));
  std::byte* kernel = detail::guard_mode ? reserve_aligned(bytes, kGranularity) : begin;
  std::lock_guard lock(registry().mutex);
  registry().ranges.emplace(begin, Range{bytes, kernel, {}});
  return begin;
}

void release_address(void* begin) {
  check_process();
  std::lock_guard lock(registry().mutex);
  const auto at = registry().ranges.find(static_cast<std::byte*>(begin));
  if (at == registry().ranges.end()) {
    fail(Code::kRtParamInvalid, "{} is not the start of a reserved address range", begin);
  }
  if (!at->second.mapped.empty()) {
    fail(Code::kRtParamInvalid, "the range at {} still has {} mappings; call aclrtUnmapMem first", begin,
         at->second.mapped.size());
  }
  registry().retired.retire([begin, range = std::pair(at->second.kernel, at->second.bytes)] {
    const auto [kernel, bytes] = range;
    if (kernel != begin) munmap(kernel, bytes);
    munmap(begin, bytes);
  });
  registry().ranges.erase(at);
}

void* create_physical(int device, size_t bytes) {
  check_usable();
  Arena& arena = detail::arena(device);
  checked_granules(bytes, "physical memory");
  check_obtainable(device, bytes);
  if (!arena.charge(bytes)) detail::refuse_allocation(device, bytes);
  try {
    return add_physical(std::make_shared<Physical>(device, bytes, detail::make_memory_file(kFileName, bytes), true));
  } catch (...) {
    arena.uncharge(bytes);
    throw;
  }
}

void free_physical(void* handle) {
  check_process();
  PhysicalPtr* slot = table().retire(handle);
  if (slot == nullptr) refuse_handle(HandleKind::kPhysical, handle);
  slot->reset();
  table().recycle(handle);
}

void map_memory(void* begin, size_t bytes, size_t offset, void* handle) {
  check_usable();
  const PhysicalPtr physical = table().get(handle);
  if (offset != 0 || bytes != physical->bytes) {
    fail(Code::kRtParamInvalid, "{} bytes at offset {} asked, but a handle of {} bytes can only be mapped whole", bytes,
         offset, physical->bytes);
  }
  auto* first = static_cast<std::byte*>(begin);
  std::lock_guard lock(registry().mutex);
  const auto at = registry().ranges.covering(begin, bytes);
  if (at == registry().ranges.end()) {
    fail(Code::kRtParamInvalid, "{} and the {} behind it are not inside one reserved range", begin,
         detail::to_size(bytes));
  }
  Range& range = at->second;
  if (static_cast<size_t>(first - at->first) % kGranularity != 0) {
    fail(Code::kRtParamInvalid, "{} is not a multiple of 2 MiB from the start of its range", begin);
  }
  const auto next = range.mapped.lower_bound(first);
  const bool hits_next = next != range.mapped.end() && next->first < first + bytes;
  const bool hits_last =
      next != range.mapped.begin() && std::prev(next)->first + std::prev(next)->second->bytes > first;
  if (hits_next || hits_last) fail(Code::kRtParamInvalid, "{} is mapped already; call aclrtUnmapMem first", begin);
  detail::map_shared(first, bytes, physical->fd, detail::guard_mode ? PROT_NONE : PROT_READ | PROT_WRITE);
  if (range.kernel != at->first) {
    detail::map_shared(range.kernel + (first - at->first), bytes, physical->fd, PROT_READ | PROT_WRITE);
  }
  range.mapped.emplace(first, physical);
  detail::forget_blocks();  // the run of mappings around it has grown
}

void unmap_memory(void* begin) {
  check_process();
  // Taking pages away under a running kernel would crash it. Within a callback the work cannot end before this thread
  // goes on; it then gets pages that nobody else sees.
  const bool awaited = is_awaited_by_work();
  if (!awaited && !Fence::now().wait(kPatienceMs)) {
    fail(Code::kRtWaitTimeout,
         "work queued before aclrtUnmapMem has not ended within a minute; the mapping at {} stays", begin);
  }
  auto* first = static_cast<std::byte*>(begin);
  PhysicalPtr last_use;  // its end may take the arena's lock
  std::lock_guard lock(registry().mutex);
  const auto at = registry().ranges.holding(begin);
  const auto mapping =
      at == registry().ranges.end() ? decltype(at->second.mapped.begin()){} : at->second.mapped.find(first);
  if (at == registry().ranges.end() || mapping == at->second.mapped.end()) {
    fail(Code::kRtParamInvalid, "{} is not the start of a mapping", begin);
  }
  last_use = mapping->second;
  std::byte* kernel = at->second.kernel + (first - at->first);
  if (kernel != first) reserve(first, last_use->bytes);
  reserve(kernel, last_use->bytes, awaited ? PROT_READ | PROT_WRITE : PROT_NONE);
  at->second.mapped.erase(mapping);
  detail::forget_blocks();
}

bool is_reserved_range(const void* begin, size_t bytes) {
  std::lock_guard lock(registry().mutex);
  return registry().ranges.covers(begin, bytes);
}

void* handle_of_mapping(const void* ptr) {
  check_usable();
  PhysicalPtr physical;
  {
    std::lock_guard lock(registry().mutex);
    const auto at = registry().ranges.holding(ptr);
    if (at != registry().ranges.end()) {
      auto mapping = at->second.mapped.upper_bound(static_cast<std::byte*>(const_cast<void*>(ptr)));
      if (mapping != at->second.mapped.begin() && ptr < (--mapping)->first + mapping->second->bytes)
        physical = mapping->second;
    }
  }
  if (!physical) fail(Code::kRtParamInvalid, "{} is not mapped; pass an address that aclrtMapMem has mapped", ptr);
  return add_physical(std::move(physical));
}

int device_of_mapping(const void* begin, size_t bytes) {
  std::lock_guard lock(registry().mutex);
  const auto at = registry().ranges.holding(begin);
  if (at == registry().ranges.end()) return -1;
  const auto mapping = at->second.mapped.find(static_cast<std::byte*>(const_cast<void*>(begin)));
  return mapping == at->second.mapped.end() || mapping->second->bytes != bytes ? -1 : mapping->second->device;
}

bool is_mapping(const void* begin, size_t bytes, void* handle) {
  const PhysicalPtr physical = table().get(handle);
  std::lock_guard lock(registry().mutex);
  const auto at = registry().ranges.holding(begin);
  if (at == registry().ranges.end()) return false;
  const auto mapping = at->second.mapped.find(static_cast<std::byte*>(const_cast<void*>(begin)));
  return mapping != at->second.mapped.end() && mapping->second == physical && bytes == physical->bytes;
}

// Linux opens another process' file by number for processes of the same user: no server is needed.
uint64_t export_physical(void* handle) {
  check_process();
  return uint64_t{static_cast<uint32_t>(getpid())} << 32 | static_cast<uint32_t>(table().get(handle)->fd);
}

void* import_physical(uint64_t shareable, int device) {
  check_usable();
  check_device(device);
  const std::string path = fmt::format("/proc/{}/fd/{}", shareable >> 32, shareable & 0xffffffffu);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || !is_physical_file(fd) || fstat(fd, &info) != 0) {
    if (fd >= 0) close(fd);
    fail(Code::kRtParamInvalid,
         "shareable handle {:#x} names no physical memory: it was freed, its process ended, or it "
         "belongs to another user",
         shareable);
  }
  return add_physical(std::make_shared<Physical>(device, static_cast<size_t>(info.st_size), fd, false));
}

Block detail::find_mapped(const void* ptr, size_t* padded) {
  std::lock_guard lock(registry().mutex);
  const auto at = registry().ranges.holding(ptr);
  if (at == registry().ranges.end()) return {};
  auto& mapped = at->second.mapped;
  auto mapping = mapped.upper_bound(static_cast<std::byte*>(const_cast<void*>(ptr)));
  if (mapping == mapped.begin()) return {};
  --mapping;
  const auto end_of = [](const auto& entry) { return entry->first + entry->second->bytes; };
  if (ptr >= end_of(mapping)) return {};
  // Neighbours make one block: a growing segment is used as a whole.
  const int device = mapping->second->device;
  auto first = mapping, last = mapping;
  while (first != mapped.begin() && end_of(std::prev(first)) == first->first &&
         std::prev(first)->second->device == device) {
    --first;
  }
  for (auto next = std::next(last); next != mapped.end(); ++next) {
    if (next->first != end_of(last) || next->second->device != device) break;
    last = next;
  }
  *padded = static_cast<size_t>(end_of(last) - first->first);
  return {first->first, *padded, device};
}

void* detail::resolve_mapped(const void* ptr) {
  std::lock_guard lock(registry().mutex);
  const auto at = registry().ranges.holding(ptr);
  auto* address = static_cast<std::byte*>(const_cast<void*>(ptr));
  return at == registry().ranges.end() ? address : at->second.kernel + (address - at->first);
}

bool detail::is_reserved(const void* ptr) {
  std::lock_guard lock(registry().mutex);
  return registry().ranges.holding(ptr) != registry().ranges.end();
}

}  // namespace npu::device
