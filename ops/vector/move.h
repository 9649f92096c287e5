// SPDX-License-Identifier: Apache-2.0
// A planned copy: the building block of everything that only moves elements (concatenation, padding, repetition …).
#pragma once

#include "ops/vector/elementwise.h"

namespace npu::ops {

class Move {
 public:
  /// Copies `from`, broadcast and converted, into `to`. Raises 161002 when it does not broadcast or convert.
  void plan(const Operand& from, const Tensor& to);
  void plan(const Tensor& from, const Tensor& to) { plan(Operand{.tensor = from, .scalar = {}}, to); }
  void run() const { loop_.run(); }
  int64_t cost() const { return loop_.cost(); }

 private:
  Elementwise loop_;
};

/// Copies element by element in row-major order of both sides, whose shapes may differ: a reshape. `from` and `to`
/// must hold equally many elements and not overlap.
class Reshape {
 public:
  /// Raises 161002 when the element counts differ or the dtypes do not convert.
  void plan(const Tensor& from, const Tensor& to);
  void run() const;
  int64_t cost() const { return 200 + 2 * from_.count(); }

 private:
  Tensor source_, target_;
  Loop from_, to_;
  Convert load_ = nullptr, store_ = nullptr;
  int64_t slot_size_ = 0;
};

/// The dtype values pass through on their way between two dtypes; kUndefined when there is none.
DType slot_between(DType from, DType to);

}  // namespace npu::ops
