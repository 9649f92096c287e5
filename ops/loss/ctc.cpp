// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification: the probability of a label sequence under per-step class probabilities, summed
// over all alignments, and its gradient. Log space throughout; one sample is one part of the work.
// States are the labels with blanks around and between them; alpha and beta are the probabilities of all paths up to
// and from a state. In double: over thousands of steps a logarithm in float would lose its digits.
#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  // Two impossible paths stay impossible; -inf - -inf would make them NaN.
  const double top = std::max(a, b);
  return top == kNever ? kNever : top + std::log(std::exp(a - top) + std::exp(b - top));
}

struct Ctc : Operator {
  Tensor log_probs, targets, neg_log_likelihood, log_alpha;
  std::vector<int64_t> input_lengths, target_lengths;
  int64_t blank = 0;
  bool zero_infinity = false;

 protected:
  void check();
  /// The labels of sample `b` with blanks between and around them. Raises 161002 for a label that is no class.
  std::vector<int64_t> states_of(int64_t b) const;
  void read_states();

  Rows probs_, alphas_;
  std::vector<int64_t> first_label_;
  std::vector<std::vector<int64_t>> states_;
  int64_t steps_ = 0, samples_ = 0, classes_ = 0, width_ = 0;
};

void Ctc::check() {
  require(log_probs.rank() == 3 && is_floating(log_probs.dtype),
          "log_probs is {}; it must be floating point, [steps, samples, classes]", log_probs);
  steps_ = log_probs.shape[0], samples_ = log_probs.shape[1], classes_ = log_probs.shape[2];
  require(blank >= 0 && blank < classes_, "blank is {}; log_probs has {} classes", blank, classes_);
  require(is_integer(targets.dtype) && (targets.rank() == 1 || (targets.rank() == 2 && targets.shape[0] == samples_)),
          "targets is {}; it must be integer, [{}, labels] or all labels one after another", targets, samples_);
  const auto samples = static_cast<size_t>(samples_);
  require(input_lengths.size() == samples && target_lengths.size() == samples,
          "there are {} input lengths and {} target lengths for {} samples", input_lengths.size(),
          target_lengths.size(), samples);
  int64_t longest = 0, total = 0;
  first_label_.resize(samples);
  for (size_t b = 0; b < samples; ++b) {
    require(input_lengths[b] >= 0 && input_lengths[b] <= steps_, "input length {} is {}; log_probs has {} steps", b,
            input_lengths[b], steps_);
    require(target_lengths[b] >= 0, "target length {} is {}", b, target_lengths[b]);
    // Labels lie one behind another, or each sample has a row: the offset of a sample's first one either way.
    first_label_[b] = targets.rank() == 1 ? total * targets.strides[0] : static_cast<int64_t>(b) * targets.strides[0];
    longest = std::max(longest, target_lengths[b]);
    total += target_lengths[b];
  }
  const int64_t room = targets.shape.back();
  require((targets.rank() == 1 ? total : longest) <= room, "targets is {}; the target lengths need {} labels", targets,
          targets.rank() == 1 ? total : longest);
  require(neg_log_likelihood.count() == samples_, "neg_log_likelihood is {}; it is one number a sample",
          neg_log_likelihood);
  // The client allots alpha for the longest target; shorter ones leave the end of their rows unused.
  require(log_alpha.rank() == 3 && log_alpha.shape[0] == samples_ && log_alpha.shape[1] == steps_ &&
              log_alpha.shape[2] >= 2 * longest + 1,
          "log_alpha is {}, expected [{}, {}, {}] or more", log_alpha, samples_, steps_, 2 * longest + 1);
  width_ = log_alpha.shape[2];
  // Samples are the rows, steps and classes (or states) their lines: one load brings a sample together.
  const size_t by_class[2] = {0, 2}, by_state[2] = {1, 2};
  probs_ = Rows(log_probs, by_class, DType::kDouble);
  alphas_ = Rows(log_alpha, by_state, DType::kDouble);
}

std::vector<int64_t> Ctc::states_of(int64_t b) const {
  const auto sample = static_cast<size_t>(b);
  std::vector<int64_t> states(static_cast<size_t>(2 * target_lengths[sample] + 1), blank);
  // Labels are values, so a wrong one is seen only when the work runs; all are read before any sample is computed.
  for (int64_t i = 0; i < target_lengths[sample]; ++i) {
    const auto label = static_cast<int64_t>(load_element(targets, first_label_[sample] + i * targets.strides.back()));
    if (label < 0 || label >= classes_)
      fail(Code::kNnInvalidParam, "label {} of sample {} is {}; log_probs has {} classes", i, b, label, classes_);
    states[static_cast<size_t>(2 * i + 1)] = label;
  }
  return states;
}

void Ctc::read_states() {
  states_.clear();
  for (int64_t b = 0; b < samples_; ++b) states_.push_back(states_of(b));
}

struct CtcLoss final : Ctc {
  void prepare() override { check(); }
  void run() override {
    read_states();
    parallel_parts(samples_, [this](int64_t b) { run_sample(b); });
  }
  int64_t cost() const override { return 1000 + 40 * log_alpha.count(); }

 private:
  void run_sample(int64_t b) const;
};

void CtcLoss::run_sample(int64_t b) const {
  const auto& states = states_[static_cast<size_t>(b)];
  const auto count = static_cast<int64_t>(states.size()), steps = input_lengths[static_cast<size_t>(b)];
  const Scratch<double> prob_buffer(steps_ * classes_), alpha(steps_ * width_), alpha_buffer(steps_ * width_);
  const auto* p = static_cast<const double*>(probs_.load(b, prob_buffer));
  std::fill(alpha.data(), alpha.data() + steps_ * width_, kNever);
  for (int64_t t = 0; t < steps; ++t) {
    const double* before = alpha + (t - 1) * width_;
    // A path begins with the blank or the first label, stays, goes on by one, or leaves out a blank between two labels
    // that differ: equal ones need the blank to count twice.
    for (int64_t s = 0; s < count; ++s) {
      const int64_t state = states[static_cast<size_t>(s)];
      double sum = t == 0 ? (s < 2 ? 0 : kNever) : before[s];
      if (t > 0 && s > 0) sum = log_add(sum, before[s - 1]);
      if (t > 0 && s > 1 && states[static_cast<size_t>(s - 2)] != state) sum = log_add(sum, before[s - 2]);
      alpha[t * width_ + s] = sum + p[t * classes_ + state];
    }
  }
  // An empty target has one state only, and a path of no steps is certain.
  double likelihood = count == 1 ? 0 : kNever;  // of no steps
  if (steps > 0) {
    const double* last = alpha + (steps - 1) * width_;
    likelihood = count == 1 ? last[0] : log_add(last[count - 1], last[count - 2]);
  }
  // zero_infinity is the backward pass's business and the client's: the loss itself stays infinite.
  store_element(neg_log_likelihood, b * neg_log_likelihood.strides[0], -likelihood);
  auto* to = static_cast<double*>(alphas_.target(b, alpha_buffer));
  std::copy_n(alpha.data(), alphas_.length(), to);
  alphas_.store(b, to);
}

struct CtcLossBackward final : Ctc {
  Tensor grad, out;

  void prepare() override {
    check();
    require(grad.count() == samples_, "grad is {}; it is one number a sample", grad);
    check_shape(out, "out", log_probs.shape);
    const size_t by_class[2] = {0, 2};
    result_ = Rows(out, by_class, DType::kDouble);
  }
  void run() override {
    read_states();
    parallel_parts(samples_, [this](int64_t b) { run_sample(b); });
  }
  int64_t cost() const override { return 1000 + 60 * log_alpha.count(); }

 private:
  void run_sample(int64_t b) const;
  /// One step back of the paths' probabilities `beta`, in place.
  void step_back(const std::vector<int64_t>& states, const double* p, bool last, double* beta) const;
  Rows result_;
};

void CtcLossBackward::step_back(const std::vector<int64_t>& states, const double* p, bool last, double* beta) const {
  const size_t count = states.size();
  for (size_t s = 0; s < count; ++s) {  // ascending: what lies behind s is still that of the next step
    // A path ends in the last label or the blank behind it.
    double sum = last ? (s + 2 >= count ? 0 : kNever) : beta[s];
    if (!last && s + 1 < count) sum = log_add(sum, beta[s + 1]);
    if (!last && s + 2 < count && states[s + 2] != states[s]) sum = log_add(sum, beta[s + 2]);
    beta[s] = sum + p[states[s]];
  }
}

void CtcLossBackward::run_sample(int64_t b) const {
  const auto& states = states_[static_cast<size_t>(b)];
  const auto count = static_cast<int64_t>(states.size()), steps = input_lengths[static_cast<size_t>(b)];
  const Scratch<double> prob_buffer(steps_ * classes_), alpha_buffer(steps_ * width_), beta(count);
  const Scratch<double> made(steps_ * classes_), buffer(steps_ * classes_);
  const auto* p = static_cast<const double*>(probs_.load(b, prob_buffer));
  const auto* alpha = static_cast<const double*>(alphas_.load(b, alpha_buffer));
  const double loss = load_element(neg_log_likelihood, b * neg_log_likelihood.strides[0]);
  const double upper = grad.rank() == 0 ? load_element(grad) : load_element(grad, b * grad.strides[0]);
  std::fill(made.data(), made.data() + steps_ * classes_, 0.0);
  // A sample without any path has no slope; told to, its gradient is 0 and not NaN.
  const bool skipped = zero_infinity && std::isinf(loss);
  // Steps beyond the sample's length keep the 0 they begin with.
  for (int64_t t = steps; t-- > 0 && !skipped;) {
    double* to = made + t * classes_;
    const double* now = p + t * classes_;
    step_back(states, now, t == steps - 1, beta);
    std::fill(to, to + classes_, kNever);
    // Several states are one class: their paths add up.
    for (int64_t s = 0; s < count; ++s) {
      double& sum = to[states[static_cast<size_t>(s)]];
      sum = log_add(sum, alpha[t * width_ + s] + beta[s]);
    }
    // torch's gradient, that by the scores before log_softmax. Its classes sum to 0, so log_softmax's own backward pass
    // leaves it as it is.
    for (int64_t c = 0; c < classes_; ++c) to[c] = (std::exp(now[c]) - std::exp(to[c] + loss - now[c])) * upper;
  }
  auto* to = static_cast<double*>(result_.target(b, buffer));
  std::copy_n(made.data(), result_.length(), to);
  result_.store(b, to);
}

NPU_OPERATOR(CtcLoss, "ctc_loss", "loss", in<&CtcLoss::log_probs>("log_probs"), in<&CtcLoss::targets>("targets"),
             attr<&CtcLoss::input_lengths>("input_lengths"), attr<&CtcLoss::target_lengths>("target_lengths"),
             attr<&CtcLoss::blank>("blank"), attr<&CtcLoss::zero_infinity>("zero_infinity"),
             out<&CtcLoss::neg_log_likelihood>("neg_log_likelihood"), out<&CtcLoss::log_alpha>("log_alpha"));
NPU_OPERATOR(CtcLossBackward, "ctc_loss_backward", "loss", in<&CtcLossBackward::grad>("grad"),
             in<&CtcLossBackward::log_probs>("log_probs"), in<&CtcLossBackward::targets>("targets"),
             attr<&CtcLossBackward::input_lengths>("input_lengths"),
             attr<&CtcLossBackward::target_lengths>("target_lengths"),
             in<&CtcLossBackward::neg_log_likelihood>("neg_log_likelihood"),
             in<&CtcLossBackward::log_alpha>("log_alpha"), attr<&CtcLossBackward::blank>("blank"),
             attr<&CtcLossBackward::zero_infinity>("zero_infinity"), out<&CtcLossBackward::out>("out"));

}  // namespace
}  // namespace npu::ops
