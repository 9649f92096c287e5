// SPDX-License-Identifier: Apache-2.0
// What training sees of quantisation: the floats that a number has after it was quantised and brought back, and where
// it was within range.
#include <algorithm>
#include <limits>

#include "ops/operator.h"
#include "ops/quant/factors.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();

/// out = (clamp(round(self / scale) + zero_point, quant_min, quant_max) - zero_point) * scale, with numbers along
/// `axis` or one for all. Below 1, `enabled` leaves self as it is.
struct FakeQuant final : Operator {
  Tensor self, scale, zero_point, out, mask;
  int64_t axis = -1, quant_min = 0, quant_max = 255;
  double enabled = 1;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 500 + 4 * self.count(); }

 private:
  void run_row(int64_t row, float* values, float* inside) const;
  void keep_row(int64_t row, float* values, float* inside) const;

  Rows x_, out_, mask_;
  Factors scales_, zeros_;
};

void FakeQuant::prepare() {
  require_float(self, "self");
  require(!absent(scale) && !absent(zero_point), "scale is {}, zero_point is {}: each needs one number at least", scale,
          zero_point);
  require(quant_min <= quant_max, "quant_min is {}, quant_max is {}: the range is empty", quant_min, quant_max);
  check_shape(out, "out", self.shape);
  check_shape(mask, "mask", self.shape);
  require(mask.dtype == DType::kBool, "mask is {}; use bool", mask);
  const size_t last = self.rank() == 0 ? 0 : self.rank() - 1;
  x_ = Rows(self, last, DType::kFloat);
  out_ = Rows(out, last, DType::kFloat);
  mask_ = Rows(mask, last, DType::kFloat);
  scales_.plan_along(scale, self.shape, axis, "scale");
  zeros_.plan_along(zero_point, self.shape, axis, "zero_point");
}

// The numbers of a row, changed one by one; `room` backs as many as there are.
template <class F>
Factor changed(Factor factor, int64_t n, float* room, F&& change) {
  for (int64_t i = 0; i < (factor.each ? n : 1); ++i) room[i] = change(factor.data[i]);
  return {room, factor.each};
}

void FakeQuant::run_row(int64_t row, float* values, float* inside) const {
  const QuantKernel& kernel = quant_kernel();
  const int64_t n = x_.length();
  const auto low = static_cast<float>(quant_min), high = static_cast<float>(quant_max);
  const Factor scales = scales_.row(row), zeros = zeros_.row(row);
  const Scratch<float> room(n);
  // torch multiplies by the reciprocal, which decides what happens to numbers in the middle.
  const Factor inverse = changed(scales, n, room, [](float s) { return 1.0f / s; });
  kernel.scale(static_cast<const float*>(x_.load(row, values)), inverse, {}, values, n);
  kernel.round(values, Rounding::kNearest, -kLargest, kLargest, n);
  kernel.scale(values, {}, zeros, values, n);
  for (int64_t i = 0; i < n; ++i) {
    const float whole = values[i];
    inside[i] = whole >= low && whole <= high ? 1.0f : 0.0f;
    values[i] = whole < low ? low : whole > high ? high : whole;
  }
  kernel.scale(values, {}, changed(zeros, n, room, [](float zero) { return -zero; }), values, n);
  kernel.scale(values, scales, {}, values, n);
}

void FakeQuant::keep_row(int64_t row, float* values, float* inside) const {
  const auto* x = static_cast<const float*>(x_.load(row, values));
  if (x != values) std::copy_n(x, x_.length(), values);
  std::fill_n(inside, x_.length(), 1.0f);
}

void FakeQuant::run() {
  if (self.count() == 0) return;
  scales_.load(), zeros_.load();
  for_rows(x_, [this](int64_t begin, int64_t end) {
    const Scratch<float> values(x_.length()), inside(x_.length());
    for (int64_t row = begin; row < end; ++row) {
      enabled >= 1 ? run_row(row, values, inside) : keep_row(row, values, inside);
      quant_kernel().scale(values, {}, {}, static_cast<float*>(out_.target(row, values)), x_.length());
      out_.store(row, values);
      mask_.store(row, inside);
    }
  });
}

NPU_OPERATOR(FakeQuant, "fake_quant", "quant", in<&FakeQuant::self>("self"), in<&FakeQuant::scale>("scale"),
             in<&FakeQuant::zero_point>("zero_point"), attr<&FakeQuant::enabled>("enabled"),
             attr<&FakeQuant::axis>("axis"), attr<&FakeQuant::quant_min>("quant_min"),
             attr<&FakeQuant::quant_max>("quant_max"), out<&FakeQuant::out>("out"), out<&FakeQuant::mask>("mask"));

}  // namespace
}  // namespace npu::ops
