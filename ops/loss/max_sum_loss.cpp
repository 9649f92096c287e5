// SPDX-License-Identifier: Apache-2.0
// Cross entropy from the maximum of each token's logits, the sum of exponentials below it and the target's logit below
// it, as devices that share a vocabulary exchange them.
#include <cmath>

#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

/// loss = log(sum) - predicted, and the softmax of logits that are there.
struct MaxSumLoss final : Operator {
  Tensor logits_max, sum_exp_logits, predicted_logits, input, weight, logits, loss, softmax;
  double label_smoothing = 0;

  void prepare() override {
    const int64_t tokens = logits_max.rank() == 1 ? logits_max.shape[0] : 0;
    for (const Tensor* t : {&logits_max, &sum_exp_logits, &predicted_logits, &loss}) {
      require(t->rank() == 1 && t->shape[0] == tokens, "a tensor is {}; it has one number for each token", *t);
      require(t->dtype == DType::kFloat, "a tensor is {}; maxima, sums, predicted logits and losses are float32", *t);
    }
    require(label_smoothing == 0, "label_smoothing is {}; only 0 is supported", label_smoothing);
    require((!input.defined() || input.count() == 0) && (!weight.defined() || weight.count() == 0),
            "input and weight are given; only calls without them are supported");
    require(logits.defined() == softmax.defined(), "softmax and vocab_parallel_logits must be given both, or neither");
    if (!logits.defined()) return;
    require(logits.rank() == 2 && logits.shape[0] == tokens, "vocab_parallel_logits is {}; it has {} rows", logits,
            tokens);
    check_shape(softmax, "softmax", logits.shape);
    from_ = Rows(logits, 1, DType::kFloat), to_ = Rows(softmax, 1, DType::kFloat);
  }
  void run() override {
    for (int64_t i = 0; i < loss.shape[0]; ++i) {
      loss.as<float>()[i * loss.strides[0]] =
          static_cast<float>(std::log(static_cast<double>(number(sum_exp_logits, i)))) - number(predicted_logits, i);
    }
    if (logits.defined()) for_rows(from_, [this](int64_t begin, int64_t end) { run_rows(begin, end); });
  }
  int64_t cost() const override { return 500 + 10 * loss.count() + (logits.defined() ? 4 * logits.count() : 0); }

 private:
  static float number(const Tensor& t, int64_t i) { return t.as<float>()[i * t.strides[0]]; }
  void run_rows(int64_t begin, int64_t end) const {
    const int64_t n = from_.length();
    const Scratch<float> given(n), made(n);
    for (int64_t row = begin; row < end; ++row) {
      const auto* x = static_cast<const float*>(from_.load(row, given));
      auto* y = static_cast<float*>(to_.target(row, made));
      const float top = number(logits_max, row), sum = number(sum_exp_logits, row);
      for (int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i] - top) / sum;
      to_.store(row, y);
    }
  }
  Rows from_, to_;
};

NPU_OPERATOR(MaxSumLoss, "max_sum_loss", "loss", in<&MaxSumLoss::logits_max>("logits_max"),
             in<&MaxSumLoss::sum_exp_logits>("sum_exp_logits"), in<&MaxSumLoss::predicted_logits>("predicted_logits"),
             attr<&MaxSumLoss::label_smoothing>("label_smoothing"), optional<&MaxSumLoss::input>("input"),
             optional<&MaxSumLoss::weight>("weight"), optional<&MaxSumLoss::logits>("logits"),
             out<&MaxSumLoss::loss>("loss"), optional_out<&MaxSumLoss::softmax>("softmax"));

}  // namespace
}  // namespace npu::ops
