// SPDX-License-Identifier: Apache-2.0
#include "device/memory/cgroup.h"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/split.h"

namespace npu::device {
namespace {

// The number in `path`, or `absent` ("max", a missing file).
uint64_t number_in(const std::string& path, uint64_t absent) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : absent;
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
  const uint64_t droppable = number_in_table(files.droppable, folder + "memory.stat");
  tightest.limit = std::min(tightest.limit, limit);
  tightest.left = std::min(tightest.left, limit - std::min(limit, used - std::min(used, droppable)));
}

}  // namespace

uint64_t number_in_table(std::string_view name, const std::string& path) {
  std::ifstream file(path);
  std::string word;
  uint64_t number = 0;
  while (file >> word) {
    if (word == name && file >> number) return number;
  }
  return 0;
}

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

}  // namespace npu::device
