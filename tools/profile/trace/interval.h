// SPDX-License-Identifier: Apache-2.0
// When something was busy.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/profile/trace/folder.h"

namespace npu::profile {

/// [start, end) in nanoseconds.
struct Interval {
  int64_t start = 0, end = 0;
  bool operator==(const Interval&) const = default;
};
/// Apart from each other and in order.
using Intervals = std::vector<Interval>;

/// Those of any order, with those that touch made one.
Intervals merged(Intervals intervals);
/// What of `whole` is not in `taken`; both merged.
Intervals without(const Intervals& whole, const Intervals& taken);

/// What a device did, between its first task and its last.
struct Overlap {
  Intervals computing, communication;
  Intervals communication_alone;  ///< while nothing was computed
  Intervals free;                 ///< while there was neither
};
Overlap overlap_of(Intervals computing, Intervals communication);
/// Of a device's tasks; copies and waits are neither.
Overlap overlap_of(const std::vector<TaskRecord>& tasks);

}  // namespace npu::profile
