// SPDX-License-Identifier: Apache-2.0
// How much memory the machine, and the cgroups of this process, can still give. Device memory is committed as it is
// written, so a device may own more than was taken from the machine so far; both are counted here.
#pragma once

#include <cstddef>

namespace npu::device {

/// Bytes that device memory may still grow by before ANYNPU_MEMORY_MARGIN of the machine's or the cgroup's memory is
/// left: what is available, less the part of all devices' blocks that was never written. Reads a few files of /proc
/// and /sys (about 50 us). Without limit under ANYNPU_MEMORY.
size_t obtainable_memory();
/// Raises 207001 unless obtainable_memory() has `bytes`. Small requests are added up and looked at together.
void check_obtainable(int device, size_t bytes);

}  // namespace npu::device
