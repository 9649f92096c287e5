// SPDX-License-Identifier: Apache-2.0
// Operators that read a whole line of elements along one dimension to compute each of its results: softmax and its
// kin. Lines that lie in memory are handed over one by one; lines that lie across memory come 64 side by side.
#pragma once

#include <cstdint>
#include <span>

#include "ops/operator.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/loop/loop.h"

namespace npu::ops {

/// Lines side by side in a column block. Column kernels always compute this many; blocks that are not full are staged.
inline constexpr int64_t kColumns = 64;

/// Element i of line c of operand k is at in[k][i * step[k] + c], in slot elements. A row is one line with step 1.
struct AlongBlock {
  const void* in[3];
  void* out;
  int64_t step[3];
  int64_t out_step;
  int64_t length;
};

struct AlongKernel {
  void (*row)(const AlongBlock&) = nullptr;      ///< one line, all steps 1
  void (*columns)(const AlongBlock&) = nullptr;  ///< kColumns lines
};

class Along {
 public:
  /// At most three `inputs` and `out`, all of one shape, computed in `slot` (float32 or float64) along `dim`. Raises
  /// 161002 when a shape or a dtype does not fit.
  void plan(std::span<const Tensor> inputs, const Tensor& out, int64_t dim, DType slot, const AlongKernel& kernel);
  void run() const;
  int64_t cost() const { return 200 + 4 * lines_.count() * length_; }

 private:
  struct Side {
    Tensor tensor;
    Convert convert = nullptr;
    int64_t size = 0;
    int64_t axis_stride = 0;
    bool same = false;  ///< memory holds slot elements
  };
  void run_rows(int64_t begin, int64_t end) const;
  void run_columns(int64_t tile) const;
  void stage_columns(size_t k, const std::byte* first, int64_t width, std::byte* buffer) const;

  AlongKernel kernel_;
  Side sides_[4];  ///< inputs, then the output
  size_t inputs_ = 0;
  Loop lines_;  ///< one position a line; operand k as in sides_
  int64_t length_ = 0;
  int64_t slot_size_ = 0;
  bool by_columns_ = false;
};

}  // namespace npu::ops
