// SPDX-License-Identifier: Apache-2.0
// The shape of a loop over several strided operands: axes ordered and merged so that the walk follows memory.
#pragma once

#include <cstdint>
#include <span>

#include "base/tensor.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {

/// At most this many operands share one loop.
inline constexpr size_t kMaxOperands = 8;

/// Up to kMaxOperands stride lists over one shape.
struct Loop {
  Dims shape;                  ///< merged sizes, outermost first; never empty (a scalar is {1})
  Dims strides[kMaxOperands];  ///< per operand, in elements
  size_t operands = 0;

  int64_t count() const { return count_of(shape); }
  /// True when operand `k` is read in order without gaps.
  bool dense(size_t k) const { return shape.size() == 1 && (strides[k][0] == 1 || shape[0] == 1); }
  /// True when operand `k` is one repeated element.
  bool constant(size_t k) const;
};

/// Merges the axes of `shape`; `strides[k]` are those of operand k (same rank as shape). Axes are ordered by the
/// strides of operand 0, ties by the next operands.
Loop make_loop(const Dims& shape, std::span<const Dims> strides);

/// As make_loop, but axes keep their order: position i is the i-th element in the row-major order of `shape`.
Loop make_ordered_loop(const Dims& shape, std::span<const Dims> strides);

/// The axes of `loop` outside of the innermost one, of which it has two at least: the places where its rows begin.
Loop rows_of(const Loop& loop);

/// Walks linear positions of a Loop row by row.
class LoopCursor {
 public:
  LoopCursor(const Loop& loop, int64_t position);
  /// Elements left in the innermost axis.
  int64_t row_left() const { return loop_.shape.back() - index_.back(); }
  /// Offset of operand `k` in elements.
  int64_t offset(size_t k) const { return offset_[k]; }
  /// Goes `count` elements on; `count` <= row_left().
  void advance(int64_t count);

 private:
  const Loop& loop_;
  Dims index_;
  int64_t offset_[kMaxOperands] = {};
};

/// Elements [begin, begin + count) of operand `k` of `loop`, converted, side by side into `block`. `base` is the
/// operand's first element; sizes are bytes per element before and after.
void gather(const Loop& loop, size_t k, const std::byte* base, int64_t size, int64_t begin, int64_t count,
            Convert convert, std::byte* block, int64_t block_size);
/// The reverse: `block` into the operand.
void scatter(const Loop& loop, size_t k, std::byte* base, int64_t size, int64_t begin, int64_t count, Convert convert,
             const std::byte* block, int64_t block_size);

}  // namespace npu::ops
