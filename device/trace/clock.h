// SPDX-License-Identifier: Apache-2.0
// The clock of records beside the one that people read.
#pragma once

#include <cstdint>
#include <ctime>

namespace npu::device::trace {

/// Nanoseconds.
int64_t read_clock(clockid_t clock);

/// One moment by both, in nanoseconds: CLOCK_MONOTONIC_RAW, and since 1970.
struct Moment {
  int64_t monotonic = 0, people = 0;
};
/// Now. The two are read at once as nearly as can be: on a busy machine a thread may lose its core between two
/// readings, and all times that are moved from one clock to the other would be off by that.
Moment both_clocks();

}  // namespace npu::device::trace
