// SPDX-License-Identifier: Apache-2.0
// How often something took how long.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "tools/profile/trace/folder.h"

namespace npu::profile {

/// Times of one kind, in nanoseconds.
struct Sum {
  int64_t count = 0, total = 0, least = std::numeric_limits<int64_t>::max(), most = 0;
  double squares = 0;

  void add(int64_t time) { add({1, time, time, time, static_cast<double>(time) * static_cast<double>(time)}); }
  void add(const Sum& other) {
    count += other.count, total += other.total, squares += other.squares;
    least = std::min(least, other.least), most = std::max(most, other.most);
  }
  double mean() const { return static_cast<double>(total) / static_cast<double>(count); }
  double variance() const { return std::max(0.0, squares / static_cast<double>(count) - mean() * mean()); }
};

/// By two numbers, most of which come often: far faster than by the texts that they stand for.
class Sums {
 public:
  void add(uint32_t a, uint32_t b, int64_t time) { sums_[uint64_t{a} << 32 | b].add(time); }
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& [key, sum] : sums_) visit(static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key), sum);
  }

 private:
  std::unordered_map<uint64_t, Sum> sums_;
};

/// Of device, type and unit of operators that compute.
using OperatorSums = std::map<std::tuple<int, std::string, std::string>, Sum>;
OperatorSums operator_sums(const Trace& trace);

}  // namespace npu::profile
