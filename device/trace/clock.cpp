// SPDX-License-Identifier: Apache-2.0
#include "device/trace/clock.h"

namespace npu::device::trace {
int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

Moment both_clocks() {
  constexpr int kTries = 100;
  constexpr int64_t kNear = 1'000;
  Moment best;
  int64_t least = INT64_MAX;
  for (int i = 0; i < kTries && least > kNear; ++i) {
    const int64_t before = read_clock(CLOCK_MONOTONIC_RAW), people = read_clock(CLOCK_REALTIME);
    const int64_t took = read_clock(CLOCK_MONOTONIC_RAW) - before;
    if (took < least) least = took, best = {before + took / 2, people};
  }
  return best;
}

}  // namespace npu::device::trace
