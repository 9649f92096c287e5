// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/factors.h"

#include <algorithm>

#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

// Without its axes of size 1, which carry nothing.
Tensor squeezed(const Tensor& t) {
  Dims shape, strides;
  for (size_t i = 0; i < t.rank(); ++i) {
    if (t.shape[i] == 1) continue;
    shape.push_back(t.shape[i]);
    strides.push_back(t.strides[i]);
  }
  return t.view(shape, strides);
}

}  // namespace

void require_float(const Tensor& t, const char* name) {
  require(t.dtype == DType::kFloat || t.dtype == DType::kHalf || t.dtype == DType::kBFloat16,
          "{} is {}; use float32, float16 or bfloat16", name, t);
}

void Factors::plan(const Tensor& t, int64_t rows, int64_t columns, const char* name, bool by_row) {
  values_.clear();
  if (absent(t)) return;
  convert_ = converter(t.dtype, DType::kFloat);
  require(convert_ != nullptr && !is_complex(t.dtype), "{} is {}; use real numbers", name, t);
  const Tensor flat = squeezed(t);
  const bool column = by_row || (t.rank() > 1 && t.shape.back() == 1);
  const int64_t n = flat.rank() == 1 ? flat.shape[0] : 0;
  if (flat.rank() == 0) {
    view_ = flat.view({1, 1}, {0, 0});
  } else if (n == rows && column) {
    view_ = flat.view({n, 1}, {flat.strides[0], 0});
  } else if (n == columns && (rows == 1 || !column)) {
    view_ = flat.view({1, n}, {0, flat.strides[0]});
  } else {
    require(flat.rank() == 2 && flat.shape[0] == rows && flat.shape[1] == columns,
            "{} is {}; it may hold one number, {}, or {}", name, t, columns, Dims{rows, columns});
    view_ = flat;
  }
  inner_ = 1;
  values_.resize(static_cast<size_t>(view_.count()));
}

void Factors::plan_along(const Tensor& t, const Dims& shape, int64_t axis, const char* name) {
  const size_t at = wrap_dim(axis, shape.size());
  const int64_t n = shape.empty() ? 1 : shape[at];
  require(absent(t) || t.count() == 1 || squeezed(t).shape == Dims{n},
          "{} is {}; it may hold one number, or {} along dimension {}", name, t, n, axis);
  if (at + 1 >= shape.size()) return plan(t, 1, n, name);
  plan(t, n, 1, name, true);
  inner_ = 1;
  for (size_t i = at + 1; i + 1 < shape.size(); ++i) inner_ *= shape[i];
}

void Factors::load() {
  if (values_.empty()) return;
  const auto size = static_cast<int64_t>(size_of(view_.dtype));
  const int64_t columns = view_.shape[1];
  for (int64_t r = 0; r < view_.shape[0]; ++r) {
    convert_(view_.bytes() + r * view_.strides[0] * size, view_.strides[1], values_.data() + r * columns, 1, columns);
  }
}

Factor Factors::row(int64_t index) const {
  if (values_.empty()) return {};
  const int64_t columns = view_.shape[1];
  return {values_.data() + index / inner_ % view_.shape[0] * columns, columns > 1};
}

void Groups::plan(const Tensor& t, bool counts) {
  t_ = {};
  if (absent(t)) return;
  require(t.rank() == 1 && (t.dtype == DType::kInt32 || t.dtype == DType::kInt64),
          "group_index is {}; use one int32 or int64 number for each group", t);
  t_ = t, counts_ = counts;
  ends_.resize(static_cast<size_t>(t.count()));
}

void Groups::load() {
  if (!t_.defined()) return;
  int64_t end = 0;
  for (int64_t i = 0; i < t_.count(); ++i) {
    const auto value = static_cast<int64_t>(load_element(t_, i * t_.strides[0]));
    // Ends that go back are the same as groups without rows.
    end = counts_ ? end + std::max<int64_t>(value, 0) : std::max(end, value);
    ends_[static_cast<size_t>(i)] = end;
  }
}

int64_t Groups::of(int64_t row) const {
  if (!t_.defined()) return 0;
  const auto found = std::upper_bound(ends_.begin(), ends_.end(), row);
  return found == ends_.end() ? -1 : found - ends_.begin();
}

}  // namespace npu::ops
