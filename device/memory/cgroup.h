// SPDX-License-Identifier: Apache-2.0
// The memory limits of the cgroups that hold this process, of versions 1 and 2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace npu::device {

/// The tightest of the cgroups that hold this process; UINT64_MAX where none sets a limit.
struct CgroupMemory {
  uint64_t limit = UINT64_MAX;  ///< bytes that the cgroup may use
  uint64_t left = UINT64_MAX;   ///< bytes below its limit; files that the kernel can drop count as unused
};
/// `groups` lists the cgroups of the process, as /proc/self/cgroup; the files are below `root`. Versions 1 and 2.
CgroupMemory cgroup_memory(const std::string& groups = "/proc/self/cgroup", const std::string& root = "/sys/fs/cgroup");

/// The number after `name` in a file of "name number" lines, as memory.stat and /proc/meminfo; 0 if there is none.
uint64_t number_in_table(std::string_view name, const std::string& path);

}  // namespace npu::device
