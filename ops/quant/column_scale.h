// SPDX-License-Identifier: Apache-2.0
// What each column of a product is multiplied by, and shifted by when it becomes int8: floats, or words that hold both.
#pragma once

#include <vector>

#include "ops/quant/factors.h"

namespace npu::ops {

class ColumnScale {
 public:
  /// float32 or bfloat16 numbers for each group and column, or int64 or uint64 words for each column.
  void plan(const Tensor& t, int64_t groups, int64_t columns, const char* name);
  bool words() const { return words_; }
  /// `shift`: what the client gave beside the scales. Words that hold a shift of their own have it from there.
  void load(Factor shift);
  Factor scale(int64_t group, int64_t first) const { return from(words_ ? whole(scale_) : floats_.row(group), first); }
  Factor shift(int64_t first) const { return from(words_ ? whole(shift_) : beside_, first); }

 private:
  static Factor whole(const std::vector<float>& values) { return {values.data(), true}; }
  static Factor from(Factor factor, int64_t first) {
    if (factor.each) factor.data += first;
    return factor;
  }

  Tensor t_;
  bool words_ = false;
  Factors floats_;
  Factor beside_;
  std::vector<float> scale_, shift_;  ///< of words, one for each column
};

}  // namespace npu::ops
