// SPDX-License-Identifier: Apache-2.0
#include "device/memory/share.h"

#include <mutex>
#include <set>

#include "base/error.h"
#include "device/memory/arena_table.h"
#include "device/memory/import.h"
#include "device/memory/memory.h"
#include "device/process/init.h"

namespace npu::device {
namespace {

struct Exports {
  std::mutex mutex;
  std::set<std::string> keys;
};

Exports& exports() {
  static Exports& never_destroyed = *new Exports;
  return never_destroyed;
}

}  // namespace

// Segment 1 is the arena of device 0.
SharedRange share(const void* ptr, size_t bytes) {
  check_process();
  const Arena* arena = detail::arena_of(ptr);
  if (arena == nullptr || bytes > arena->size() - arena->offset_of(ptr)) return {};
  for (int device = 0;; ++device)
    if (detail::made_arena(device) == arena) return {static_cast<uint64_t>(device) + 1, arena->offset_of(ptr)};
}

Segment find_segment(uint64_t segment) {
  check_process();
  const Arena* arena = segment == 0 || segment > 1024 ? nullptr : detail::made_arena(static_cast<int>(segment) - 1);
  return arena == nullptr ? Segment{} : Segment{arena->file(), arena->size(), arena->kernel_base()};
}

std::string export_memory(const void* ptr, size_t bytes) {
  check_usable();
  if (bytes == 0) fail(Code::kRtParamInvalid, "the range to share has no bytes");
  check_live(ptr, bytes, kAnyDevice, "devPtr");
  const SharedRange range = share(ptr, bytes);
  if (!range)
    fail(Code::kFeatureUnsupported,
         "devPtr {} is mapped or imported memory, which has no key; share it with aclrtMemExportToShareableHandle, or "
         "export it where it was allocated",
         ptr);
  std::string key = detail::to_key(find_segment(range.segment).fd, range.offset, bytes);
  const std::lock_guard lock(exports().mutex);
  exports().keys.insert(key);
  return key;
}

bool is_exported(const std::string& key) {
  const std::lock_guard lock(exports().mutex);
  return exports().keys.contains(key);
}

void close_shared(const std::string& key) {
  check_process();
  if (detail::close_import(key)) return;
  const std::lock_guard lock(exports().mutex);
  if (exports().keys.erase(key) == 0) detail::refuse_key(key);
}

}  // namespace npu::device
