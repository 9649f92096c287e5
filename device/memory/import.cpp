// SPDX-License-Identifier: Apache-2.0
#include "device/memory/import.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>

#include "base/error.h"
#include "device/memory/retired.h"
#include "device/process/init.h"
#include "device/process/soc.h"

namespace npu::device {
namespace {

constexpr uint64_t kPage = 4096;

struct Import {
  Block block;
  std::byte* mapping;  // whole pages around the block
  size_t mapped;
  int uses;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Import> imports;
  RetiredMemory retired;
  std::atomic<size_t> count{0};  // of imports
};

Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

/// The file of an arena, as its process knows it, and a range of it.
struct Key {
  unsigned pid = 0, fd = 0;
  unsigned long long offset = 0, bytes = 0;
};

Key parse(const std::string& text) {
  Key key;
  int end = 0;
  const int found =
      std::sscanf(text.c_str(), "anynpu-%x-%x-%llx-%llx%n", &key.pid, &key.fd, &key.offset, &key.bytes, &end);
  if (found != 4 || static_cast<size_t>(end) != text.size() || key.bytes == 0) detail::refuse_key(text);
  return key;
}

bool is_arena_file(int fd) {
  char target[64] = {};
  const ssize_t length = readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), target, sizeof(target) - 1);
  return length > 0 && std::string_view(target).starts_with("/memfd:anynpu-arena");
}

/// Linux opens another process' file by number for processes of the same user: no server is needed.
Import map(const std::string& text, int device) {
  const Key key = parse(text);
  const int fd = open(fmt::format("/proc/{}/fd/{}", key.pid, key.fd).c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) detail::refuse_key(text);
  struct stat info {};
  const uint64_t first = key.offset / kPage * kPage;
  const size_t mapped = key.offset - first + key.bytes;
  void* memory = MAP_FAILED;
  const bool fits = is_arena_file(fd) && fstat(fd, &info) == 0 && key.bytes <= static_cast<uint64_t>(info.st_size) &&
                    key.offset <= static_cast<uint64_t>(info.st_size) - key.bytes;
  if (fits) memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(first));
  close(fd);
  if (memory == MAP_FAILED) detail::refuse_key(text);
  madvise(memory, mapped, MADV_DONTFORK);
  auto* mapping = static_cast<std::byte*>(memory);
  return {{mapping + (key.offset - first), key.bytes, device}, mapping, mapped, 0};
}

}  // namespace

std::string detail::to_key(int fd, uint64_t offset, uint64_t bytes) {
  return fmt::format("anynpu-{:x}-{:x}-{:x}-{:x}", getpid(), fd, offset, bytes);
}

void detail::refuse_key(const std::string& key) {
  fail(Code::kRtParamInvalid,
       "key '{}' names no memory: pass what aclrtIpcMemGetExportKey gave, while its process lives; it must belong to "
       "the same user",
       key);
}

void* import_memory(const std::string& key, int device) {
  check_usable();
  check_device(device);
  const std::lock_guard lock(registry().mutex);
  auto at = registry().imports.find(key);
  if (at == registry().imports.end()) {
    at = registry().imports.emplace(key, map(key, device)).first;
    registry().count.fetch_add(1);
  }
  ++at->second.uses;
  return at->second.block.begin;
}

bool detail::close_import(const std::string& key) {
  const std::lock_guard lock(registry().mutex);
  const auto at = registry().imports.find(key);
  if (at == registry().imports.end()) return false;
  if (--at->second.uses > 0) return true;
  // Taking pages away under a running kernel would crash it.
  registry().retired.retire([begin = at->second.mapping, mapped = at->second.mapped] { munmap(begin, mapped); });
  registry().imports.erase(at);
  registry().count.fetch_sub(1);
  forget_blocks();
  return true;
}

Block detail::find_imported(const void* ptr, size_t* padded) {
  if (registry().count.load(std::memory_order_relaxed) == 0) return {};
  const std::lock_guard lock(registry().mutex);
  for (const auto& [key, import] : registry().imports) {
    const auto* address = static_cast<const std::byte*>(ptr);
    if (address < import.block.begin || address >= import.block.begin + import.block.bytes) continue;
    *padded = import.block.bytes;
    return import.block;
  }
  return {};
}

}  // namespace npu::device
