// SPDX-License-Identifier: Apache-2.0
// The frame of operators that write through index tensors: out starts as self (or a number), then plain elements are
// put or combined at indexed places.
#pragma once

#include <memory>
#include <vector>

#include "ops/index/indexed.h"
#include "ops/vector/elementwise/move.h"

namespace npu::ops {

struct Writing : Operator {
  Tensor self;  ///< what out starts as; may be out itself
  Tensor out;
  IndexOffsets offsets;
  IndexedMove move;

  void run() override;
  int64_t cost() const override { return move.cost() + 2 * out.count(); }

 protected:
  /// Starts planning: checks that self and out agree, and chooses where to write: out itself, or a row-major buffer of
  /// dtype `buffer` that is rounded into out once at the end. Views and strides come from the tensor returned.
  const Tensor& begin(DType buffer = DType::kUndefined);
  /// out starts as `value` instead of self.
  const Tensor& begin_with(const Scalar& value, DType buffer = DType::kUndefined);
  /// One repeated number as the plain side, in the dtype written.
  Tensor constant(const Scalar& value, const Dims& shape);
  /// The dtype sums of `dtype` are kept in: float32 for halves; kUndefined when out can be used itself.
  static DType sum_buffer(DType dtype) {
    return dtype == DType::kHalf || dtype == DType::kBFloat16 ? DType::kFloat : DType::kUndefined;
  }
  /// Where to write: what the index tensors say, or a table of the operator's own.
  virtual std::vector<int64_t> positions() const { return offsets.read(); }
  /// Work between start and the indexed write, and after it; `at` are the offsets, `target` where results are.
  virtual void before(const std::vector<int64_t>& at, const Tensor& target);
  virtual void after(const std::vector<int64_t>& at, const Tensor& target);

  Tensor target_;

 private:
  Operand start_;
  std::vector<std::shared_ptr<std::vector<std::byte>>> values_;  ///< of constants; shared, so that views stay valid
};

/// Elements per operator mode of the vendor's `reduction` numbers: 0 none, 1 add, 2 multiply, 3 max, 4 min, 5 mean.
IndexedMode scatter_mode(int64_t reduction);

}  // namespace npu::ops
