// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/whole_rows.h"

#include <algorithm>

#include "ops/scratch.h"
#include "ops/vector/conversion/nibble.h"

namespace npu::ops {
namespace {

// The same memory as bytes; int4 has no element that could be walked.
Tensor as_bytes(const Tensor& t, const char* name) {
  require(t.rank() > 0 && t.strides.back() == 1 && t.shape.back() % 2 == 0 && t.offset % 2 == 0,
          "{} is {} with strides {}: pairs of int4 share a byte; lay its rows out densely", name, t, t.strides);
  Tensor bytes = t;
  bytes.dtype = DType::kInt8;
  bytes.offset /= 2;
  bytes.shape[bytes.rank() - 1] /= 2;
  for (size_t i = 0; i + 1 < bytes.rank(); ++i) {
    require(t.strides[i] % 2 == 0, "{} is {} with strides {}: its rows must start at a byte", name, t, t.strides);
    bytes.strides[i] /= 2;
  }
  return bytes;
}

void pack(const float* values, int64_t bytes, uint8_t* out) {
  for (int64_t i = 0; i < bytes; ++i) {
    const auto first = static_cast<unsigned>(static_cast<int>(values[2 * i])) & 15u;
    const auto second = static_cast<unsigned>(static_cast<int>(values[2 * i + 1])) & 15u;
    out[i] = static_cast<uint8_t>(first | second << 4);
  }
}

}  // namespace

void WholeRows::plan(const Tensor& t, const Dims& shape, const char* name, size_t axes) {
  const int64_t last = shape.empty() ? 1 : shape.back();
  const Tensor held = t.dtype == DType::kInt4 ? as_bytes(t, name) : t;
  const int64_t packed = t.dtype == DType::kInt32 ? 8 : t.dtype == DType::kInt8 || t.dtype == DType::kInt4 ? 2 : 0;
  Dims small = shape;
  if (!small.empty() && packed != 0) small[small.size() - 1] /= packed;
  const bool four_bits = packed != 0 && !shape.empty() && last % packed == 0 && held.shape == small &&
                         (t.dtype == DType::kInt4 || held.shape != shape);
  require(four_bits || t.shape == shape, "{} is {}; it takes numbers of shape {}, or eight 4-bit ones in each int32",
          name, t, shape);
  require(t.dtype == DType::kInt8 || t.dtype == DType::kUInt8 || t.dtype == DType::kInt32 || four_bits,
          "{} is {}; use int8, uint8, int32, or int4", name, t);
  rows_ = Rows(held, last_axes(held, axes), four_bits ? held.dtype : DType::kFloat);
  length_ = 1;
  for (size_t i = 0; i < std::min(axes, shape.size()); ++i) length_ *= shape[shape.size() - 1 - i];
  bytes_ = four_bits ? length_ / 2 : 0;
  // The largest float below 2^31 is 128 less.
  low_ = four_bits ? -8.0f : t.dtype == DType::kInt8 ? -128.0f : t.dtype == DType::kUInt8 ? 0.0f : -0x1p31f;
  high_ = four_bits ? 7.0f : t.dtype == DType::kInt8 ? 127.0f : t.dtype == DType::kUInt8 ? 255.0f : 0x1.fffffep30f;
}

void WholeRows::store(int64_t row, float* values, Rounding rounding) const {
  quant_kernel().round(values, rounding, low_, high_, length_);
  if (bytes_ == 0) return rows_.store(row, values);
  const Scratch<uint8_t> buffer(bytes_);
  void* target = rows_.target(row, buffer);
  pack(values, bytes_, static_cast<uint8_t*>(target));
  rows_.store(row, target);
}

void WholeRows::load(int64_t row, float* values) const {
  if (bytes_ == 0) {
    const void* from = rows_.load(row, values);
    if (from != values) std::copy_n(static_cast<const float*>(from), length_, values);
    return;
  }
  const Scratch<uint8_t> buffer(bytes_);
  read_nibbles(rows_.load(row, buffer), 0, 1, values, 2 * bytes_);
}

}  // namespace npu::ops
