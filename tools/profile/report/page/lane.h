// SPDX-License-Identifier: Apache-2.0
// The timeline as a picture has it: lanes of slices, few enough to open at once.
#pragma once

#include "base/json.h"
#include "tools/profile/report/fact/facts.h"

namespace npu::profile {

struct DrawnSlice {
  int64_t start = 0, end = 0;
  std::string name;  ///< of several: of the longest of them
  uint64_t count = 1;
  int64_t busy = 0;     ///< their times together
  int64_t longest = 0;  ///< of one of them
};

struct Lane {
  std::string title;
  std::vector<DrawnSlice> slices;  ///< in order
};

inline constexpr size_t kMostSlices = 20'000;

/// Threads of the hosts, and for each device its idle times by cause and its streams. Where there are more than `most`
/// slices, the shortest that stand close to each other are shown as one.
std::vector<Lane> lanes_of(const std::vector<Trace>& traces, const std::vector<Facts>& all, size_t most = kMostSlices);

/// {"names": […], "lanes": [{"title", "slices": [start, length, name, count, busy, …]}]}, nanoseconds after the
/// first of them.
Json json_of(const std::vector<Lane>& lanes);

}  // namespace npu::profile
