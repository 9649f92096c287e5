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
  int64_t cost() const;

 private:
  /// A few rows of bytes, copied as they are.
  struct Rows {
    int64_t count = 0, bytes = 0, from_step = 0, to_step = 0;
  };
  /// Planes of elements that lie side by side along one axis in the source and along another in the target.
  struct Planes {
    Loop each;                ///< where planes begin: operand 0 in the target, 1 in the source
    int64_t rows = 0;         ///< elements side by side in the target
    int64_t columns = 0;      ///< and in the source
    int64_t row_step = 0;     ///< in the source, in elements
    int64_t column_step = 0;  ///< in the target
    int64_t element = 0;      ///< bytes
  };
  /// Rows of bytes that begin at the places of `each`.
  struct ManyRows {
    Loop each;  ///< as Planes
    int64_t bytes = 0, element = 0;
  };
  enum class Way : uint8_t { kLoop, kRows, kManyRows, kPlanes };
  static bool find_rows(const Tensor& from, const Tensor& to, Rows& rows);
  static bool find_planes(const Loop& loop, int64_t size, Planes& planes);
  static bool find_many_rows(const Loop& loop, int64_t size, ManyRows& rows);
  Way find_way(const Tensor& from, const Tensor& to);
  void run_many_rows() const;
  void run_planes() const;

  Way way_ = Way::kLoop;
  Elementwise loop_;
  Rows rows_;
  ManyRows many_rows_;
  Planes planes_;
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
