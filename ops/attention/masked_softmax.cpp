// SPDX-License-Identifier: Apache-2.0
// Softmax along the last dimension of self * scale where a mask takes elements out, and its gradient. A row that is
// masked altogether has no distribution: it becomes NaN, as softmax of minus infinities does.
#include <cmath>

#include "base/dims.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

struct Masked : Operator {
  Tensor mask, out;
  double scale = 1;
  bool fixed_triu_mask = false;

 protected:
  void check(const Tensor& values) {
    require(values.rank() >= 1 && is_floating(values.dtype), "self is {}; it must be floating point", values);
    require(!fixed_triu_mask, "fixed_triu_mask is true; give the mask itself, torch.triu(…, diagonal=1)");
    check_shape(out, "out", values.shape);
    axis_ = values.rank() - 1;
    to = Rows(out, axis_, DType::kFloat);
  }
  size_t axis_ = 0;
  Rows to;
};

struct MaskedSoftmax final : Masked {
  Tensor self;
  Rows from, hidden;

  void prepare() override {
    check(self);
    from = Rows(self, axis_, DType::kFloat);
    if (!mask.defined()) return;
    require(mask.dtype == DType::kBool && broadcast(mask.shape, self.shape) == self.shape,
            "mask is {}; it must be bool and broadcast to self ({})", mask, self);
    hidden = Rows(mask.expanded(self.shape), axis_, DType::kBool);
  }
  void run() override {
    for_rows(from, [this](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) run_row(row);
    });
  }
  int64_t cost() const override { return 500 + 6 * self.count(); }

 private:
  void run_row(int64_t row) const {
    const int64_t n = from.length();
    const Scratch<float> x_buffer(n), values(n), out_buffer(n);
    const Scratch<bool> mask_buffer(n);
    const auto* x = static_cast<const float*>(from.load(row, x_buffer));
    const auto* out_of_play = mask.defined() ? static_cast<const bool*>(hidden.load(row, mask_buffer)) : nullptr;
    // A NaN does not become the largest element, but its exponential makes the sum, and the whole row, NaN.
    float top = -HUGE_VALF;
    for (int64_t i = 0; i < n; ++i) {
      // Scaled first, hidden after: a scale of 0 or below must not bring back what the mask takes out.
      values[i] = out_of_play != nullptr && out_of_play[i] ? -HUGE_VALF : x[i] * static_cast<float>(scale);
      top = std::max(top, values[i]);
    }
    double sum = 0;
    // In double, so that the sum of long rows is as exact as its terms.
    for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(values[i] = std::exp(values[i] - top));
    auto* y = static_cast<float*>(to.target(row, out_buffer));
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(static_cast<double>(values[i]) / sum);
    to.store(row, y);
  }
};

struct MaskedSoftmaxBackward final : Masked {
  Tensor grad, result;
  Rows upper, from;

  void prepare() override {
    check(result);
    check_shape(grad, "y_grad", result.shape);
    upper = Rows(grad, axis_, DType::kFloat);
    from = Rows(result, axis_, DType::kFloat);
  }
  void run() override {
    for_rows(from, [this](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) run_row(row);
    });
  }
  int64_t cost() const override { return 500 + 4 * grad.count(); }

 private:
  // What the mask took out has y = 0, so the mask itself is not read.
  void run_row(int64_t row) const {
    const int64_t n = from.length();
    const Scratch<float> g_buffer(n), y_buffer(n), made(n), out_buffer(n);
    const auto* g = static_cast<const float*>(upper.load(row, g_buffer));
    const auto* y = static_cast<const float*>(from.load(row, y_buffer));
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(g[i]) * y[i];
    for (int64_t i = 0; i < n; ++i) made[i] = static_cast<float>(scale * y[i] * (g[i] - sum));
    auto* dx = static_cast<float*>(to.target(row, out_buffer));
    // Made beside: dx may lie where g or y lies.
    std::copy_n(made.data(), n, dx);
    to.store(row, dx);
  }
};

NPU_OPERATOR(MaskedSoftmax, "masked_softmax", "attention", in<&MaskedSoftmax::self>("self"),
             optional<&MaskedSoftmax::mask>("mask"), attr<&MaskedSoftmax::scale>("scale"),
             attr<&MaskedSoftmax::fixed_triu_mask>("fixed_triu_mask"), out<&MaskedSoftmax::out>("out"));
NPU_OPERATOR(MaskedSoftmaxBackward, "masked_softmax_backward", "attention", in<&MaskedSoftmaxBackward::grad>("grad"),
             in<&MaskedSoftmaxBackward::result>("result"), attr<&MaskedSoftmaxBackward::scale>("scale"),
             attr<&MaskedSoftmaxBackward::fixed_triu_mask>("fixed_triu_mask"), out<&MaskedSoftmaxBackward::out>("out"));

}  // namespace
}  // namespace npu::ops
