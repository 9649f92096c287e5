// SPDX-License-Identifier: Apache-2.0
// Log-softmax and negative log likelihood in one: scores [N, C] and one class number a row.
// Rows are computed in double; the loss of a batch is added up in row order, so bits do not depend on the number of
// threads.
#include <cmath>

#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

// What loss and gradient share. A target that is ignore_index takes no part; one that is no class raises 161002.
struct CrossEntropy : Operator {
  Tensor target, weight;
  std::string reduction = "mean";
  int64_t ignore_index = -100;
  double label_smoothing = 0, zloss_scale = 0;

 protected:
  void check(const Tensor& scores) {
    require(scores.rank() == 2 && is_floating(scores.dtype), "input is {}; it must be floating point, [N, C]", scores);
    rows_ = scores.shape[0], classes_ = scores.shape[1];
    require(target.shape == Dims({rows_}) && is_integer(target.dtype), "target is {}; it must be integer, [{}]", target,
            rows_);
    require(!weight.defined() || (weight.shape == Dims({classes_}) && is_floating(weight.dtype)),
            "weight is {}; it must be floating point, [{}]", weight, classes_);
    require(reduction == "mean" || reduction == "sum" || reduction == "none",
            "reduction is '{}'; it is mean, sum or none", reduction);
    require(label_smoothing >= 0 && label_smoothing <= 1, "label_smoothing is {}; it is 0 to 1", label_smoothing);
    // What is not built is refused, not left out of the result.
    require(zloss_scale == 0, "lse_square_scale_for_zloss is {}; only 0 is supported", zloss_scale);
  }
  void check_loss(const Tensor& t, const char* name) const {
    const int64_t count = reduction == "none" ? rows_ : 1;
    require(t.count() == count, "{} is {}; reduction {} of {} rows gives {} numbers", name, t, reduction, rows_, count);
  }
  double weight_of(int64_t c) const { return weight.defined() ? load_element(weight, c * weight.strides[0]) : 1.0; }
  /// Reads targets and weights; `total_` is the sum of the targets' weights.
  void read_targets() {
    targets_.clear();
    weights_.clear();
    total_ = 0;
    for (int64_t c = 0; c < classes_; ++c) weights_.push_back(weight_of(c));
    for (int64_t i = 0; i < rows_; ++i) {
      // Targets are values: seen only when the work runs, and refused before anything is written.
      const auto t = static_cast<int64_t>(load_element(target, i * target.strides[0]));
      if (t != ignore_index && (t < 0 || t >= classes_))
        fail(Code::kNnInvalidParam, "target {} is {}; there are {} classes", i, t, classes_);
      // -1 stands for rows that take no part, as ignore_index may name a class.
      targets_.push_back(t == ignore_index ? -1 : t);
      if (t != ignore_index) total_ += weights_[static_cast<size_t>(t)];
    }
  }
  int64_t target_of(int64_t row) const { return targets_[static_cast<size_t>(row)]; }
  int64_t rows_ = 0, classes_ = 0;
  std::vector<int64_t> targets_;  ///< -1: takes no part
  std::vector<double> weights_;
  double total_ = 0;
};

struct CrossEntropyLoss final : CrossEntropy {
  Tensor input, loss, log_prob;
  bool return_zloss = false;
  Rows from, to;

  void prepare() override {
    check(input);
    check_loss(loss, "loss");
    check_shape(log_prob, "log_prob", input.shape);
    require(!return_zloss, "return_zloss is true; it is not supported: add the square of logsumexp yourself");
    from = Rows(input, 1, DType::kFloat);
    to = Rows(log_prob, 1, DType::kFloat);
  }
  void run() override {
    read_targets();
    std::vector<double> losses(static_cast<size_t>(rows_));
    for_rows(from, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) losses[static_cast<size_t>(row)] = run_row(row);
    });
    double sum = 0;
    for (int64_t row = 0; row < rows_; ++row) {
      const double value = losses[static_cast<size_t>(row)];
      if (reduction == "none") store_element(loss, row * loss.strides[0], value);
      sum += value;
    }
    // Without a row that takes part this is 0 / 0, NaN, as in torch.
    if (reduction != "none") store_element(loss, 0, reduction == "mean" ? sum / total_ : sum);
  }
  int64_t cost() const override { return 500 + 6 * input.count(); }

 private:
  double run_row(int64_t row) const {
    const Scratch<float> in(classes_), out(classes_);
    const auto* x = static_cast<const float*>(from.load(row, in));
    auto* p = static_cast<float*>(to.target(row, out));
    // The largest score off: no exponential overflows, and their sum is 1 at least.
    const double top = classes_ == 0 ? 0 : static_cast<double>(*std::max_element(x, x + classes_));
    double sum = 0;
    for (int64_t c = 0; c < classes_; ++c) sum += std::exp(static_cast<double>(x[c]) - top);
    const double lse = top + std::log(sum);
    double smooth = 0;
    const int64_t t = target_of(row);
    const double at_target = t < 0 ? 0 : lse - static_cast<double>(x[t]);
    for (int64_t c = 0; c < classes_; ++c) {
      const double value = static_cast<double>(x[c]) - lse;
      // Every class gets its part of the smoothing, weighted as the classes are.
      smooth -= weights_[static_cast<size_t>(c)] * value;
      p[c] = static_cast<float>(value);
    }
    to.store(row, p);
    // log_prob is written for every row; only the loss leaves ignored ones out.
    if (t < 0) return 0;
    return (1 - label_smoothing) * weights_[static_cast<size_t>(t)] * at_target +
           label_smoothing / static_cast<double>(classes_) * smooth;
  }
};

struct CrossEntropyLossGrad final : CrossEntropy {
  Tensor grad_loss, log_prob, out;
  Rows from, to;

  void prepare() override {
    check(log_prob);
    check_loss(grad_loss, "grad_loss");
    check_shape(out, "out", log_prob.shape);
    from = Rows(log_prob, 1, DType::kFloat);
    to = Rows(out, 1, DType::kFloat);
  }
  void run() override {
    read_targets();
    for_rows(from, [this](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) run_row(row);
    });
  }
  int64_t cost() const override { return 500 + 6 * out.count(); }

 private:
  double upper(int64_t row) const {
    if (reduction == "none") return load_element(grad_loss, row * grad_loss.strides[0]);
    // The mean divides by the sum of weights, as the loss does.
    return load_element(grad_loss) / (reduction == "mean" ? total_ : 1.0);
  }
  void run_row(int64_t row) const {
    const Scratch<float> in(classes_), buffer(classes_);
    const auto* p = static_cast<const float*>(from.load(row, in));
    auto* dx = static_cast<float*>(to.target(row, buffer));
    const int64_t t = target_of(row);
    const double g = t < 0 ? 0 : upper(row), smoothing = label_smoothing / static_cast<double>(classes_);
    // All that the target's distribution weighs, which with weights is not 1: softmax is multiplied by it.
    double share = t < 0 ? 0 : (1 - label_smoothing) * weights_[static_cast<size_t>(t)];
    for (int64_t c = 0; c < classes_; ++c) share += smoothing * weights_[static_cast<size_t>(c)];
    for (int64_t c = 0; c < classes_; ++c) {
      const double w = weights_[static_cast<size_t>(c)];
      const double wanted = smoothing * w + (c == t ? (1 - label_smoothing) * w : 0);
      // Ignored rows are 0, not 0 times something: their scores may be infinite.
      dx[c] = t < 0 ? 0 : static_cast<float>(g * (std::exp(static_cast<double>(p[c])) * share - wanted));
    }
    to.store(row, dx);
  }
};

NPU_OPERATOR(CrossEntropyLoss, "cross_entropy_loss", "loss", in<&CrossEntropyLoss::input>("input"),
             in<&CrossEntropyLoss::target>("target"), optional<&CrossEntropyLoss::weight>("weight"),
             attr<&CrossEntropyLoss::reduction>("reduction"), attr<&CrossEntropyLoss::ignore_index>("ignore_index"),
             attr<&CrossEntropyLoss::label_smoothing>("label_smoothing"),
             attr<&CrossEntropyLoss::zloss_scale>("zloss_scale"), attr<&CrossEntropyLoss::return_zloss>("return_zloss"),
             out<&CrossEntropyLoss::loss>("loss"), out<&CrossEntropyLoss::log_prob>("log_prob"));
NPU_OPERATOR(CrossEntropyLossGrad, "cross_entropy_loss_grad", "loss", in<&CrossEntropyLossGrad::grad_loss>("grad_loss"),
             in<&CrossEntropyLossGrad::log_prob>("log_prob"), in<&CrossEntropyLossGrad::target>("target"),
             optional<&CrossEntropyLossGrad::weight>("weight"), attr<&CrossEntropyLossGrad::reduction>("reduction"),
             attr<&CrossEntropyLossGrad::ignore_index>("ignore_index"),
             attr<&CrossEntropyLossGrad::label_smoothing>("label_smoothing"),
             attr<&CrossEntropyLossGrad::zloss_scale>("zloss_scale"), out<&CrossEntropyLossGrad::out>("out"));

}  // namespace
}  // namespace npu::ops
