// SPDX-License-Identifier: Apache-2.0
// What the record of a task says of its tensors, in numbers: texts are spelt for what has not been met before, and not
// while tasks run.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/tensor.h"

namespace npu::ops {

class Reading {
 public:
  Reading() { words_.resize(kOwn); }
  struct Use {
    bool reads, writes;
  };
  void add(const Tensor& tensor, Use use) {
    bytes_ += static_cast<uint64_t>(bytes_of(tensor)) * ((use.reads ? 1 : 0) + (use.writes ? 1 : 0));
    if (use.reads) rank_ = std::max(rank_, tensor.rank()), last_read_ = tensor.dtype;
    if (use.writes && first_written_ == DType::kUndefined) first_written_ = tensor.dtype;
    const uint64_t dtype = static_cast<uint32_t>(tensor.dtype);
    words_.push_back(dtype << 32 | tensor.rank() << 2 | (use.reads ? 2 : 0) | (use.writes ? 1 : 0));
    for (const int64_t size : tensor.shape) words_.push_back(static_cast<uint64_t>(size));
  }
  /// What is read and what is written; of a tensor that is both, twice.
  uint64_t bytes() const { return bytes_; }
  /// The highest of what is read.
  size_t rank() const { return rank_; }
  /// Whether the first that is written is of another type than the last that is read, as of a copy.
  bool casts() const { return last_read_ != first_written_; }
  /// Differs where a text of the record may differ: two numbers of the task's own, what is told above, and all shapes
  /// if asked.
  std::span<const uint64_t> key(uint64_t first, uint64_t second, bool shapes) {
    words_[0] = first, words_[1] = second, words_[2] = rank_ << 2 | (casts() ? 2 : 0) | (shapes ? 1 : 0);
    return {words_.data(), shapes ? words_.size() : kOwn};
  }
  /// Calls visit(dtype, shape, use) for each tensor, in order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (size_t at = kOwn; at < words_.size();) {
      const uint64_t word = words_[at];
      const std::span shape(words_.data() + at + 1, static_cast<uint32_t>(word) >> 2);
      visit(static_cast<DType>(word >> 32), shape, Use{(word & 2) != 0, (word & 1) != 0});
      at += 1 + shape.size();
    }
  }

 private:
  static constexpr size_t kOwn = 3;
  size_t rank_ = 0;
  DType last_read_ = DType::kUndefined, first_written_ = DType::kUndefined;
  uint64_t bytes_ = 0;
  fmt::basic_memory_buffer<uint64_t, 128> words_;  ///< in place, but for long lists of tensors
};

}  // namespace npu::ops
