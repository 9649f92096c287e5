// SPDX-License-Identifier: Apache-2.0
// What a rank carries between ranks in one collective, counted where it asks for parts of other ranks, while the
// process is profiled.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

namespace npu::comm {

/// Of what this thread does, from here to the end of the scope.
class Carried {
 public:
  struct Sum {
    uint64_t bytes = 0, pieces = 0;
  };

  Carried() : outer_(std::exchange(current_, this)) {}
  ~Carried() { current_ = outer_; }
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;

  /// `bytes` go from one rank to another, which may be the same. Nothing is counted outside of a scope.
  static void add(uint32_t from, uint32_t to, uint64_t bytes) {
    if (current_ == nullptr || bytes == 0) [[likely]]
      return;
    Sum& sum = current_->sums_[{from, to}];
    sum.bytes += bytes, ++sum.pieces;
  }
  const std::map<std::pair<uint32_t, uint32_t>, Sum>& sums() const { return sums_; }

 private:
  Carried* const outer_;
  std::map<std::pair<uint32_t, uint32_t>, Sum> sums_;
  inline static thread_local constinit Carried* current_ = nullptr;
};

}  // namespace npu::comm
