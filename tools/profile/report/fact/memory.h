// SPDX-License-Identifier: Apache-2.0
// What a process held of a device's memory, and who had asked for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/profile/trace/folder.h"

namespace npu::profile {

/// Blocks that were held at the peak, by the operator that was asked for next in the thread that allocated them:
/// clients allocate what an operator needs just before they call it.
struct Holder {
  std::string name;
  uint64_t bytes = 0, blocks = 0;
};

struct MemoryUse {
  struct Point {
    int64_t time;
    uint64_t bytes;
  };
  std::vector<Point> points;  ///< whenever it changed; empty where nothing was recorded
  uint64_t peak = 0;
  int64_t at = 0;               ///< when the peak was reached
  std::vector<Holder> holders;  ///< the largest first
};

MemoryUse memory_of(const Trace& trace, int device);

}  // namespace npu::profile
