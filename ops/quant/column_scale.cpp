// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/column_scale.h"

#include <algorithm>
#include <cmath>

#include "ops/quant/scale_word.h"

namespace npu::ops {

void ColumnScale::plan(const Tensor& t, int64_t groups, int64_t columns, const char* name) {
  words_ = t.dtype == DType::kInt64 || t.dtype == DType::kUInt64;
  if (!words_) {
    require(t.dtype == DType::kFloat || t.dtype == DType::kBFloat16,
            "{} is {}; use float32, bfloat16, or the int64 of npu_trans_quant_param", name, t);
    return floats_.plan(t, groups, columns, name);
  }
  const bool one = t.count() == 1;
  require(one || (t.shape.back() == columns && t.count() == columns), "{} is {}; it holds one word, or {}", name, t,
          columns);
  t_ = t.view({columns}, {one ? 0 : t.strides.back()});
  scale_.resize(static_cast<size_t>(columns)), shift_.resize(static_cast<size_t>(columns));
}

void ColumnScale::load(Factor shift) {
  floats_.load();
  beside_ = shift;
  if (!words_) return;
  for (size_t i = 0; i < scale_.size(); ++i) {
    const uint64_t word = t_.as<uint64_t>()[static_cast<int64_t>(i) * t_.strides[0]];
    scale_[i] = scale_of(word);
    shift_[i] = static_cast<float>(offset_of(word));
    // The shift beside a word is a whole number of 9 bits, too.
    if (shift_[i] == 0 && shift.given()) {
      shift_[i] = std::clamp(std::nearbyint(shift.data[shift.each ? i : 0]), -256.0f, 255.0f);
    }
  }
}

}  // namespace npu::ops
