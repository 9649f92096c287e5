// SPDX-License-Identifier: Apache-2.0
// The memory of a device: how much was in use at most, and what it was then.
#pragma once

#include <string>
#include <vector>

#include "tools/profile/trace/folder.h"

namespace npu::profile {

struct Block {
  uint64_t bytes = 0;
  int64_t time = 0;  ///< of its allocation
  std::string call;  ///< that allocated it, "" where calls were not recorded
};

struct Peak {
  uint64_t bytes = 0;  ///< 0: nothing was allocated while records were made
  int64_t time = 0;
  size_t allocations = 0;     ///< until the end
  std::vector<Block> blocks;  ///< in use at the peak, the largest first
};

Peak peak_of(const Trace& trace, int device);

}  // namespace npu::profile
