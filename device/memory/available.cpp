// SPDX-License-Identifier: Apache-2.0
#include "device/memory/available.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "base/setting.h"
#include "base/split.h"
#include "device/memory/arena_table.h"
#include "device/memory/capacity.h"

namespace npu::device {
namespace {

NPU_SETTING(std::string, margin_setting, "ANYNPU_MEMORY_MARGIN", "",
            "Memory that devices leave to other programs, as in 512M: less is never reported as free, and a request "
            "that would take it is refused; empty: 5 % of the machine's or cgroup's. Not used under ANYNPU_MEMORY.");

// Requests below this are looked at when they have added up to it.
constexpr size_t kLookedAt = size_t{16} << 20;

// The number in `path`, or `absent` ("max", a missing file).
uint64_t number_in(const std::string& path, uint64_t absent) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : absent;
}

// The number behind `name` in a file of "name number" lines, 0 when there is none.
uint64_t number_of(std::string_view name, const std::string& path) {
  std::ifstream file(path);
  std::string word;
  uint64_t number = 0;
  while (file >> word) {
    if (word == name && file >> number) return number;
  }
  return 0;
}

/// The names of the files of one version.
struct CgroupFiles {
  const char *folder, *limit, *used, *droppable;
};
constexpr CgroupFiles kVersion1{"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr CgroupFiles kVersion2{"", "memory.max", "memory.current", "inactive_file"};

void tighten(CgroupMemory& tightest, const std::string& folder, const CgroupFiles& files) {
  const uint64_t limit = number_in(folder + files.limit, UINT64_MAX);
  if (limit == UINT64_MAX) return;
  const uint64_t used = number_in(folder + files.used, 0);
  const uint64_t droppable = number_of(files.droppable, folder + "memory.stat");
  tightest.limit = std::min(tightest.limit, limit);
  tightest.left = std::min(tightest.left, limit - std::min(limit, used - std::min(used, droppable)));
}

uint64_t machine_available() { return number_of("MemAvailable:", "/proc/meminfo") << 10; }

size_t margin() {
  const std::string& text = margin_setting();
  if (text.empty()) return machine_memory() / 20;
  const std::optional<size_t> bytes = parse_size(text);
  if (!bytes) fail(Code::kInvalidParam, "ANYNPU_MEMORY_MARGIN={} is not a size; write it as 512M or 2G", text);
  return *bytes;
}

}  // namespace

CgroupMemory cgroup_memory(const std::string& groups, const std::string& root) {
  CgroupMemory tightest;
  std::ifstream file(groups);
  // "number:controllers:/path"; version 2 has no controllers. Inside a container the path may be that of the host,
  // which is not there: the folders above it are.
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string_view> fields = split(line, ":");
    if (fields.size() != 3 || (fields[1] != "memory" && !fields[1].empty())) continue;
    const CgroupFiles& files = fields[1].empty() ? kVersion2 : kVersion1;
    std::string path(fields[2]);
    while (path.ends_with('/')) path.pop_back();
    for (;; path.resize(path.rfind('/'))) {
      tighten(tightest, root + files.folder + path + "/", files);
      if (path.empty() || path.rfind('/') == std::string::npos) break;
    }
  }
  return tightest;
}

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
