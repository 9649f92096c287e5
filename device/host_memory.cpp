// SPDX-License-Identifier: Apache-2.0
#include "device/host_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "base/error.h"
#include "device/arena.h"
#include "device/init.h"
#include "device/progress.h"

namespace npu::device {
namespace {

struct Range {
  size_t bytes;   // as asked for
  size_t mapped;  // 0 for the client's own memory
};

struct Registry {
  std::shared_mutex mutex;
  std::map<const std::byte*, Range> ranges;  // by first byte, disjoint

  // The range that starts at or before `ptr`.
  std::map<const std::byte*, Range>::iterator at_or_before(const std::byte* ptr) {
    auto at = ranges.upper_bound(ptr);
    return at == ranges.begin() ? ranges.end() : std::prev(at);
  }
};

Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

constexpr size_t kPage = 4096;
constexpr int64_t kPatienceMs = 60'000;

// Removes the range that starts at `ptr`; it must be of the wanted origin.
Range remove(const void* ptr, bool own, const char* cure) {
  std::unique_lock lock(registry().mutex);
  const auto at = registry().ranges.find(static_cast<const std::byte*>(ptr));
  if (at == registry().ranges.end() || (at->second.mapped != 0) != own) {
    fail(Code::kRtParamInvalid, "{} is not the start of {}", ptr, cure);
  }
  const Range range = at->second;
  registry().ranges.erase(at);
  return range;
}

}  // namespace

void* malloc_host(size_t bytes) {
  check_usable();
  const size_t mapped = (bytes / kPage + 1) * kPage;
  void* memory =
      mapped > bytes ? mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) {
    fail(Code::kMemoryAllocation, "the machine gives no {} of host memory ({})", detail::to_size(bytes),
         std::strerror(errno));
  }
  madvise(memory, mapped, MADV_HUGEPAGE);
  std::unique_lock lock(registry().mutex);
  registry().ranges.emplace(static_cast<std::byte*>(memory), Range{bytes, mapped});
  return memory;
}

void free_host(void* ptr) {
  check_process();
  const Range range = remove(ptr, true, "a block of aclrtMallocHost, or was freed before");
  // Unmapping under a queued copy would crash it. Should the work never end, the block is lost, not the process.
  if (Fence::now().wait(kPatienceMs)) munmap(ptr, range.mapped);
}

void register_host(void* ptr, size_t bytes) {
  check_usable();
  auto* begin = static_cast<std::byte*>(ptr);
  if (begin == nullptr || bytes == 0) fail(Code::kRtParamInvalid, "the host range to register is empty");
  std::unique_lock lock(registry().mutex);
  const auto before = registry().at_or_before(begin + bytes - 1);
  if (before != registry().ranges.end() && before->first + before->second.bytes > begin) {
    fail(Code::kRtParamInvalid, "the host range at {} overlaps one that is registered", ptr);
  }
  registry().ranges.emplace(begin, Range{bytes, 0});
}

void unregister_host(void* ptr) {
  check_process();
  remove(ptr, false, "a host range registered before");
}

bool is_pinned(const void* ptr, size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(ptr);
  std::shared_lock lock(registry().mutex);
  const auto at = registry().at_or_before(begin);
  return at != registry().ranges.end() && begin + bytes <= at->first + at->second.bytes;
}

}  // namespace npu::device
