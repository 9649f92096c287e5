// SPDX-License-Identifier: Apache-2.0
// Rows of tokens, gathered and added up by tables of indices. Everything is done by rows of the result: each is the sum
// of rows named by a table, in the order of its slots and in one thread, in float32 and rounded once.
#pragma once

#include <vector>

#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {

/// The whole numbers of `t`, of any integer type and strides, in row-major order.
inline std::vector<int64_t> read_whole(const Tensor& t) {
  std::vector<int64_t> values(static_cast<size_t>(t.count()));
  if (values.empty()) return values;
  const Loop loop = make_ordered_loop(t.shape, {&t.strides, 1});
  gather(loop, 0, t.bytes(), static_cast<int64_t>(size_of(t.dtype)), 0, t.count(), converter(t.dtype, DType::kInt64),
         reinterpret_cast<std::byte*>(values.data()), sizeof(int64_t));
  return values;
}

struct TokenRows : Operator {
 protected:
  /// The last axis is a row; `lead` axes before it number them.
  static Rows rows_of(const Tensor& t, const char* name, size_t lead = 1) {
    require(t.rank() == lead + 1 && is_floating(t.dtype) && t.dtype != DType::kDouble,
            "{} is {}; it must be [{}rows, hidden] in float32, float16 or bfloat16", name, t, lead == 1 ? "" : "…, ");
    return Rows(t, lead, DType::kFloat);
  }
  /// Those that may also be quantised.
  static Rows rows_or_whole(const Tensor& t, const char* name, size_t lead = 1) {
    const bool whole = t.dtype == DType::kInt8 && t.rank() == lead + 1;
    return whole ? Rows(t, lead, DType::kFloat) : rows_of(t, name, lead);
  }
  /// Leading axes of tensors that come with one or two.
  static size_t lead_of(const Tensor& t, const char* name) {
    require(t.rank() == 2 || t.rank() == 3, "{} is {}; use 2 or 3 dimensions", name, t);
    return t.rank() - 1;
  }
  static void check_slots(const Tensor& t, const char* name) {
    require(is_integer(t.dtype), "{} is {}; it must be integer", name, t);
  }
  /// Writes whole numbers, in row-major order, into a tensor of one or two axes.
  template <class T>
  static void write(const std::vector<T>& values, const Tensor& t) {
    if (!t.defined()) return;
    const int64_t inner = t.shape.back(), outer = t.rank() == 2 ? t.shape[0] : 1;
    for (int64_t i = 0; i < outer * inner; ++i) {
      const int64_t at = (t.rank() == 2 ? i / inner * t.strides[0] : 0) + i % inner * t.strides.back();
      store_element(t, at, static_cast<double>(values[static_cast<size_t>(i)]));
    }
  }
  /// Calls body(row, to) for each row of `rows`; `to` is zeroed before and stored after. `work`: the elements that a
  /// row costs, where they are more than it has.
  template <class F>
  static void fill_rows(const Rows& rows, F&& body, int64_t work = 1) {
    const int64_t grain = (int64_t{1} << 14) / std::max(work, std::max<int64_t>(rows.length(), 1));
    parallel_for(rows.count(), std::max<int64_t>(grain, 1), [&](int64_t begin, int64_t end) {
      const Scratch<float> made(rows.length()), buffer(rows.length());
      for (int64_t row = begin; row < end; ++row) {
        std::fill(made.data(), made.data() + rows.length(), 0.0f);
        body(row, made.data());
        auto* to = static_cast<float*>(rows.target(row, buffer));
        std::copy_n(made.data(), rows.length(), to);
        rows.store(row, to);
      }
    });
  }
  /// The bits of row `index` of `rows`; nothing where there is no such row.
  static void copy_row(const Rows& rows, int64_t index, float* to) {
    if (index < 0 || index >= rows.count()) return;
    const Scratch<float> buffer(rows.length());
    std::copy_n(static_cast<const float*>(rows.load(index, buffer)), rows.length(), to);
  }
  /// to += factor * row `index` of `rows`; nothing where there is no such row.
  static void add_row(const Rows& rows, int64_t index, float factor, float* to) {
    if (index < 0 || index >= rows.count()) return;
    const Scratch<float> buffer(rows.length());
    const auto* from = static_cast<const float*>(rows.load(index, buffer));
    for (int64_t i = 0; i < rows.length(); ++i) to[i] += factor * from[i];
  }
  /// Row `a` of `x` times row `b` of `y`, added up in double; 0 where `x` has no such row.
  static float dot_rows(const Rows& x, int64_t a, const Rows& y, int64_t b) {
    if (a < 0 || a >= x.count()) return 0;
    const Scratch<float> one(x.length()), other(x.length());
    const auto* left = static_cast<const float*>(x.load(a, one));
    const auto* right = static_cast<const float*>(y.load(b, other));
    double sum = 0;
    for (int64_t i = 0; i < x.length(); ++i) sum += static_cast<double>(left[i]) * right[i];
    return static_cast<float>(sum);
  }
  /// The slot that lies in each of `rows` rows, -1 where none does.
  static std::vector<int64_t> slots_by_row(const std::vector<int64_t>& sorted, int64_t rows) {
    std::vector<int64_t> slots(static_cast<size_t>(rows), -1);
    // The reverse of the table: a gradient by rows needs it, and no two slots lie in one row.
    for (size_t k = 0; k < sorted.size(); ++k) {
      if (sorted[k] >= 0 && sorted[k] < rows) slots[static_cast<size_t>(sorted[k])] = static_cast<int64_t>(k);
    }
    return slots;
  }
};

}  // namespace npu::ops
