// SPDX-License-Identifier: Apache-2.0
// Times of one kind.
#pragma once

#include <algorithm>
#include <cstdint>

namespace npu::profile {

struct Total {
  uint64_t count = 0;
  int64_t time = 0, most = 0;
  void add(int64_t one) {
    ++count;
    time += one;
    most = std::max(most, one);
  }
  void add(const Total& more) {
    count += more.count, time += more.time;
    most = std::max(most, more.most);
  }
};

}  // namespace npu::profile
