// SPDX-License-Identifier: Apache-2.0
// Scales, offsets and biases as float32, whatever their type and shape: read from memory when the operator runs.
#pragma once

#include <vector>

#include "base/tensor.h"
#include "ops/quant/kernel.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {

/// An argument that the client left out, or gave as a placeholder without elements.
inline bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

/// Refuses `t` unless it is float32, float16 or bfloat16.
void require_float(const Tensor& t, const char* name);

class Factors {
 public:
  /// `t` as rows x columns numbers: one for all, one for each column, one for each row ([rows, 1], or `by_row`), or one
  /// for each of both. Raises 161002 for any other shape.
  void plan(const Tensor& t, int64_t rows, int64_t columns, const char* name, bool by_row = false);
  /// `t` as numbers along `axis` of `shape`, whose rows are those of the last axis.
  void plan_along(const Tensor& t, const Dims& shape, int64_t axis, const char* name);
  bool given() const { return !values_.empty(); }
  /// Reads the numbers of the tensor planned for: once in every run, before rows are asked for.
  void load();
  /// What belongs to a row; nothing where nothing was given.
  Factor row(int64_t index) const;

 private:
  Tensor view_;  ///< [rows or 1, columns or 1]
  Convert convert_ = nullptr;
  std::vector<float> values_;
  int64_t inner_ = 1;  ///< rows that share one index along the axis
};

/// Which group a row belongs to: `t` holds the end of each group, or how many rows it has.
class Groups {
 public:
  void plan(const Tensor& t, bool counts);
  bool given() const { return t_.defined(); }
  int64_t count() const { return t_.defined() ? t_.count() : 1; }
  void load();
  /// 0 where there are no groups, -1 behind the last one.
  int64_t of(int64_t row) const;

 private:
  Tensor t_;
  bool counts_ = false;
  std::vector<int64_t> ends_;
};

}  // namespace npu::ops
