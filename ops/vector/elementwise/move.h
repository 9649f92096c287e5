// SPDX-License-Identifier: Apache-2.0
// A planned copy: the building block of everything that only moves elements (concatenation, padding, repetition …).
#pragma once

#include "ops/vector/elementwise/elementwise.h"

namespace npu::ops {

class Move {
 public:
  /// Copies `from`, broadcast and converted, into `to`. Raises 161002 when it does not broadcast or convert.
  void plan(const Operand& from, const Tensor& to);
  void plan(const Tensor& from, const Tensor& to) { plan(Operand{.tensor = from, .scalar = {}}, to); }
  /// The same tensors elsewhere.
  void moved(const Operand& from, const Tensor& to);
  void run() const;
  int64_t cost() const { return by_rows_ ? 100 + rows_.count * rows_.bytes / 16 : loop_.cost(); }

 private:
  /// A few rows of bytes, copied as they are.
  struct Rows {
    int64_t count = 0, bytes = 0, from_step = 0, to_step = 0;
  };
  static bool find_rows(const Tensor& from, const Tensor& to, Rows& rows);

  Elementwise loop_;
  bool by_rows_ = false;
  Rows rows_;
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
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
