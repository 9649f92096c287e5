// SPDX-License-Identifier: Apache-2.0
// Helpers of operators that work along one dimension: rows of the input, one result or one row per row.
#pragma once

#include <algorithm>
#include <vector>

#include "base/thread_pool.h"
#include "ops/vector/loop/rows.h"

namespace npu::ops {

/// Raises 161002 unless `tensor` has shape `expected`.
inline void check_shape(const Tensor& tensor, const char* name, const Dims& expected) {
  require(tensor.shape == expected, "{} is {}, expected shape {}", name, tensor, expected);
}

/// The dtype order and arithmetic are done in: float32, float64 or int64 (also for bool). Raises 161002 for complex.
inline DType real_slot(DType dtype) {
  const DType slot = dtype == DType::kBool ? DType::kInt64 : slot_of(dtype);
  require(slot == DType::kFloat || slot == DType::kDouble || slot == DType::kInt64, "{} has no order; use a real dtype",
          dtype);
  return slot;
}

/// Calls `f(T{})` with the C++ type of a real slot.
template <class F>
void visit_real(DType slot, F&& f) {
  if (slot == DType::kFloat)
    f(float{});
  else if (slot == DType::kDouble)
    f(double{});
  else
    f(int64_t{});
}

/// `out` as one element per row of `self` along `axis`; `out` has that axis with size 1 or not at all. An `out` that is
/// left out gives rows that are not used. Raises 161002 when the shape disagrees.
inline Rows one_per_row(const Tensor& out, const char* name, const Tensor& self, size_t axis, DType slot) {
  if (!out.defined()) return {};
  Tensor view = out;
  if (out.rank() + 1 == self.rank()) {
    view.shape.insert(axis, 1);
    view.strides.insert(axis, 0);
  }
  Dims expected = self.shape;
  if (self.rank() > 0) expected[axis] = 1;
  require(view.shape == expected, "{} is {}, the reduction of {} over dimension {} gives {}", name, out, self, axis,
          expected);
  return Rows(view, axis, slot);
}

/// Calls `body(begin, end)` for ranges of rows, on any threads.
template <class F>
void for_rows(const Rows& rows, F&& body) {
  parallel_for(rows.count(), std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, rows.length())), body);
}

/// A NaN counts as larger than every number, as torch sorts.
template <class T>
bool less_nan_last(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a < b || (b != b && a == a);
  else
    return a < b;
}

template <class T>
bool is_nan(T x) {
  return x != x;
}

}  // namespace npu::ops
