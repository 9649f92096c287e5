// SPDX-License-Identifier: Apache-2.0
// Products with weights of 8 or 4 bits and scales. Weights become float32 some columns at a time, so that the room for
// them does not grow with the matrix.
// Beside float16 the device makes float16 of a weight, and rounds its sum with the offset and its product with the
// scale, as the vendor's test does; dequantised numbers stay float32 beside bfloat16, and under ANYNPU_EXACT.
#include <algorithm>
#include <vector>

#include "base/thread_pool.h"
#include "ops/exact.h"
#include "ops/matmul/blocked.h"
#include "ops/matmul/product.h"
#include "ops/operator.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/conversion/nibble.h"
#include "ops/vector/conversion/rounding_converter.h"

namespace npu::ops {
namespace {

constexpr int64_t kColumns = 512;  // of the weight, made float at a time
// Of a product of few rows each number is read once: columns that the second-level cache holds, where they are dense.
// Short pieces of rows would be read from memory a page apart.
constexpr int64_t kFewRows = 8, kFewColumns = 128, kCached = int64_t{1} << 18;

bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

/// int32 holds eight 4-bit numbers, the first in its lowest bits; memory is little-endian, so they lie one behind
/// another: in a row, or in a column of a weight that is stored by columns.
Tensor unpacked(const Tensor& weight) {
  if (weight.dtype != DType::kInt32) return weight;
  const size_t last = weight.rank() - 1;
  const bool by_columns =
      weight.strides[last - 1] == 1 && weight.strides[last] == weight.shape[last - 1] && weight.count() > 1;
  const size_t dense = by_columns ? last - 1 : last;
  require(weight.strides[dense] == 1, "weight is {} with strides {}: int32 holds eight neighbours of a row or column",
          weight, weight.strides);
  Tensor out = weight;
  out.dtype = DType::kInt4;
  out.offset *= 8;
  for (size_t i = 0; i < out.rank(); ++i) out.strides[i] *= 8;
  out.shape[dense] *= 8;
  out.strides[dense] = 1;
  return out;
}

/// A scale or offset as groups x columns of float32, whatever the client's shape.
/// A single number and a row of them are read with stride 0, so one way serves all three shapes.
class Grid {
 public:
  void plan(const Tensor& t, int64_t groups, int64_t columns, const char* name) {
    if (absent(t)) return;
    const Dims whole{groups, columns};
    require(t.count() == 1 || (t.rank() == 1 && groups == 1) || t.rank() == 2,
            "{} is {}; it has one number, one for each of {} columns, or {} x {}", name, t, columns, groups, columns);
    view_ = (t.count() == 1 ? t.view({1, 1}, {0, 0}) : t).expanded(whole);
    convert_ = converter(t.dtype, DType::kFloat);
    require(is_floating(t.dtype) && convert_ != nullptr, "{} is {}; use the type of x", name, t.dtype);
  }
  bool given() const { return view_.defined(); }
  /// Columns [first, first + n) of all groups, `absent_value` where nothing was given.
  void read(const Tensor& t, int64_t first, int64_t n, float absent_value, float* to, int64_t groups) const {
    if (!given()) return std::fill_n(to, groups * n, absent_value), void();
    const auto size = static_cast<int64_t>(size_of(t.dtype));
    for (int64_t g = 0; g < groups; ++g)
      convert_(t.bytes() + (g * view_.strides[0] + first * view_.strides[1]) * size, view_.strides[1], to + g * n, 1,
               n);
  }

 private:
  Tensor view_;
  Convert convert_ = nullptr;
};

/// out = self @ ((weight + offset) * scale) + bias with int8 or int4 weights [k, n]; scale and offset have one number,
/// one for each column, or one for each column and group of `group_size` rows.
struct WeightQuantMatmul final : Operator {
  Tensor self, weight, scale, offset, bias, out;
  int64_t group_size = 0;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return whole_.cost() * ((n_ + columns_ - 1) / columns_) + k_ * n_; }

 private:
  void check_types() const;
  void check_shapes();
  void plan_products();
  /// The last block may be narrower; a weight of fewer columns has no other.
  Product& product(int64_t n) { return n == columns_ ? whole_ : tail_; }
  Tensor columns_of(const Tensor& t, int64_t first, int64_t n) const;
  Tensor part(float* data, int64_t n) const;
  void dequantise(int64_t first, int64_t n, const float* scales, const float* offsets, float* to) const;
  void read_line(int64_t start, int64_t stride, int64_t length, float* made) const;
  template <class Offset, class Scale>
  void scale_line(float* made, int64_t length, Offset offset_at, Scale scale_at) const;
  void round(float* line, int64_t length) const {
    if (round_ != nullptr) round_(line, 1, line, 1, length);
  }

  Tensor quantised_;  ///< [k, n], int8 or int4
  Dims batch_;
  int64_t k_ = 0, n_ = 0, groups_ = 1, group_rows_ = 0;
  int64_t columns_ = kColumns;  ///< made float at a time
  bool by_rows_ = false;        ///< rows of the weight lie side by side
  Grid scales_, offsets_;
  Convert round_ = nullptr;  ///< of dequantised numbers, in place; null where they stay float32
  Product whole_, tail_;
};

void WeightQuantMatmul::check_types() const {
  require(self.dtype == DType::kHalf || self.dtype == DType::kBFloat16, "x is {}; use float16 or bfloat16", self.dtype);
  require(out.dtype == self.dtype || out.dtype == DType::kFloat,
          "the output is {}, x is {}: they must be of one type, or the output float32", out.dtype, self.dtype);
  require(weight.dtype == DType::kInt8 || weight.dtype == DType::kInt4 || weight.dtype == DType::kInt32,
          "weight is {}; use int8, int4, or int32 with eight int4 in each", weight.dtype);
  require(!is_blocked(weight.format), "weight is in ACL_FORMAT_FRACTAL_NZ; give the plain weight");
  require(!absent(scale), "antiquantScale has no elements; one number at least is needed");
}

void WeightQuantMatmul::check_shapes() {
  require(self.rank() >= 2 && weight.rank() >= 2, "x is {}, weight is {}: both need 2 dimensions at least", self.shape,
          weight.shape);
  quantised_ = unpacked(weight);
  const size_t axes = quantised_.rank() - 2;
  // Leading axes of size 1 carry nothing and go; a batch of weights is refused.
  require(count_of(Dims(std::span(quantised_.shape.data(), axes))) == 1,
          "weight is {}: batches of weights are not built; call once for each", weight.shape);
  for (size_t i = 0; i < axes; ++i) quantised_.shape.erase(0), quantised_.strides.erase(0);
  k_ = quantised_.shape[0], n_ = quantised_.shape[1];
  require(self.shape.back() == k_, "x is {}, weight is {}: inner sizes differ ({} and {})", self.shape, weight.shape,
          self.shape.back(), k_);
  Dims wanted = self.shape;
  wanted[wanted.size() - 1] = n_;
  require_shape(out, wanted);
  require(group_size == 0 || (group_size >= 32 && group_size < k_ && group_size % 32 == 0),
          "antiquantGroupSize is {}, k is {}: use 0, or a multiple of 32 below k", group_size, k_);
  // Groups run along k; the last one may be shorter.
  group_rows_ = group_size == 0 ? std::max<int64_t>(k_, 1) : group_size;
  groups_ = group_size == 0 ? 1 : (k_ + group_size - 1) / group_size;
  scales_.plan(scale, groups_, n_, "antiquantScale");
  offsets_.plan(offset, groups_, n_, "antiquantOffset");
  require(absent(bias) || bias.count() == n_, "bias is {}; it has one number for each of {} columns", bias.shape, n_);
  // Two numbers share a byte here, which no dtype's size can say.
  if (quantised_.dtype == DType::kInt4) {
    check_room(static_cast<const std::byte*>(quantised_.data) + quantised_.offset / 2, (quantised_.span() + 1) / 2,
               "weight");
  }
}

Tensor WeightQuantMatmul::columns_of(const Tensor& t, int64_t first, int64_t n) const {
  Tensor part = t;
  part.shape[part.rank() - 1] = n;
  part.offset += first * part.strides.back();
  return part;
}

// The float weights keep the order of the quantised ones, rows or columns first: dequantising walks memory forwards.
Tensor WeightQuantMatmul::part(float* data, int64_t n) const {
  const Dims strides = by_rows_ ? Dims{n, 1} : Dims{1, k_};
  Dims shape = batch_;
  shape.push_back(k_), shape.push_back(n);
  return make_tensor(data, DType::kFloat, {k_, n}).view({k_, n}, strides).expanded(shape);
}

void WeightQuantMatmul::plan_products() {
  batch_ = Dims(std::span(self.shape.data(), self.rank() - 2));
  by_rows_ = quantised_.strides[1] == 1;
  const bool few = self.count() <= kFewRows * k_;
  columns_ = few && !by_rows_ ? std::clamp(kCached / std::max<int64_t>(k_, 1), kFewColumns, kColumns) : kColumns;
  // Two plans at most, of full blocks and of the last: a Product knows its sizes.
  for (const int64_t n : {std::min(n_, columns_), n_ % columns_}) {
    if (n == 0) continue;
    const Tensor result = columns_of(out, 0, n);
    const Tensor sum = absent(bias) ? Tensor() : columns_of(bias.view({n_}, {bias.strides.back()}), 0, n);
    product(n).plan(self, part(nullptr, n), addend(sum, result.shape), result);
  }
}

void WeightQuantMatmul::prepare() {
  check_types();
  check_shapes();
  const bool rounds = self.dtype == DType::kHalf && !is_exact();
  round_ = rounds ? rounding_converter(DType::kFloat, DType::kHalf) : nullptr;
  plan_products();
}

void WeightQuantMatmul::read_line(int64_t start, int64_t stride, int64_t length, float* made) const {
  if (quantised_.dtype == DType::kInt4) return read_nibbles(quantised_.data, start, stride, made, length);
  converter(DType::kInt8, DType::kFloat)(static_cast<const int8_t*>(quantised_.data) + start, stride, made, 1, length);
}

template <class Offset, class Scale>
void WeightQuantMatmul::scale_line(float* made, int64_t length, Offset offset_at, Scale scale_at) const {
  if (offsets_.given()) {  // else the numbers are whole and small: no rounding changes them
    for (int64_t i = 0; i < length; ++i) made[i] += offset_at(i);
    round(made, length);
  }
  for (int64_t i = 0; i < length; ++i) made[i] *= scale_at(i);
  round(made, length);
}

// Shared out by lines of memory, which are rows or columns; each weight is made by one thread from its own numbers. A
// row lies in one group, a column goes through all of them.
void WeightQuantMatmul::dequantise(int64_t first, int64_t n, const float* scales, const float* offsets,
                                   float* to) const {
  const int64_t row = quantised_.strides[0], col = quantised_.strides[1];
  const int64_t start = quantised_.offset + first * col;
  const int64_t lines = by_rows_ ? k_ : n, length = by_rows_ ? n : k_;
  parallel_for(lines, std::max<int64_t>(1, 16384 / std::max<int64_t>(length, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      float* made = to + line * length;
      read_line(start + line * (by_rows_ ? row : col), by_rows_ ? col : row, length, made);
      if (by_rows_) {
        const int64_t at = line / group_rows_ * n;
        scale_line(made, n, [=](int64_t i) { return offsets[at + i]; }, [=](int64_t i) { return scales[at + i]; });
        continue;
      }
      for (int64_t group = 0; group < groups_; ++group) {
        const int64_t from = group * group_rows_;
        const float move = offsets[group * n + line], factor = scales[group * n + line];
        scale_line(
            made + from, std::min(group_rows_, k_ - from), [=](int64_t) { return move; },
            [=](int64_t) { return factor; });
      }
    }
  });
}

void WeightQuantMatmul::run() {
  if (out.count() == 0) return;
  const Scratch<float> weights(k_ * std::min(n_, columns_)), scales(groups_ * columns_), offsets(groups_ * columns_);
  for (int64_t first = 0; first < n_; first += columns_) {
    const int64_t n = std::min(columns_, n_ - first);
    scales_.read(scale, first, n, 1, scales, groups_);
    offsets_.read(offset, first, n, 0, offsets, groups_);
    dequantise(first, n, scales, offsets, weights);
    const Tensor result = columns_of(out, first, n);
    const Tensor sum = absent(bias) ? Tensor() : columns_of(bias.view({n_}, {bias.strides.back()}), first, n);
    product(n).run(self, part(weights, n), addend(sum, result.shape), result);
  }
}

NPU_OPERATOR(WeightQuantMatmul, "weight_quant_matmul", "matmul", in<&WeightQuantMatmul::self>("self"),
             in<&WeightQuantMatmul::weight>("weight"), in<&WeightQuantMatmul::scale>("scale"),
             optional<&WeightQuantMatmul::offset>("offset"), optional<&WeightQuantMatmul::bias>("bias"),
             attr<&WeightQuantMatmul::group_size>("group_size"), out<&WeightQuantMatmul::out>("out"));

}  // namespace
}  // namespace npu::ops
