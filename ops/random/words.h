// SPDX-License-Identifier: Apache-2.0
// The words of a generator one by one, for those who cannot tell beforehand how many they take.
#pragma once

#include "ops/random/philox.h"

namespace npu::ops {

/// Hands out the words from a counter on, one by one.
class Words {
 public:
  explicit Words(RandomCounter from) : next_(from) {}
  uint32_t operator()() {
    if (used_ == kCount) {
      philox(next_, kCount / 4, words_);
      next_ = next_.after(kCount / 4);
      used_ = 0;
    }
    return words_[used_++];
  }

 private:
  static constexpr int64_t kCount = 64;
  RandomCounter next_;
  int64_t used_ = kCount;
  uint32_t words_[kCount];
};

}  // namespace npu::ops
