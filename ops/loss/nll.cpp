// SPDX-License-Identifier: Apache-2.0
// Negative log likelihood: picks from `self` (log probabilities, [C], [N, C] or [N, C, …]) the class each `target`
// names. A target outside [0, C) that is not ignore_index makes its loss NaN and its gradient 0: there is no value to
// give, and a quiet 0 would hide the mistake.
#include <limits>

#include "base/thread_pool.h"
#include "ops/loss/reduction_mode.h"
#include "ops/operator.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/elementwise/move.h"
#include "ops/vector/loop/loop.h"

namespace npu::ops {
namespace {

// Sums of parts of this size are added in order: bits depend on sizes, not on the number of threads.
constexpr int64_t kPart = 4096;  // positions per parallel part

// The positions of a loss: `scores` without its class axis, beside target and, if there is one, a third tensor of the
// target's shape.
struct Positions {
  Tensor target;
  Loop loop;  ///< operand 0: scores, 1: target, 2: the third
  int64_t classes = 0;
  int64_t class_stride = 0;
  Convert load_target = nullptr;

  void plan(const Tensor& scores, const Tensor& targets, const Tensor* third);
  int64_t count() const { return loop.count(); }
  int64_t target_at(const LoopCursor& at) const {
    if (target.dtype == DType::kInt64) return reinterpret_cast<const int64_t*>(target.bytes())[at.offset(1)];
    int64_t value = 0;
    load_target(target.bytes() + at.offset(1) * static_cast<int64_t>(size_of(target.dtype)), 1, &value, 1, 1);
    return value;
  }
  bool names_class(int64_t label) const { return label >= 0 && label < classes; }
};

void Positions::plan(const Tensor& scores, const Tensor& targets, const Tensor* third) {
  require(scores.rank() >= 1, "self is a scalar: it needs a dimension of classes, [C] or [N, C, ...]");
  require(is_floating(scores.dtype), "self is {}: log probabilities are floating point", scores);
  require(is_integer(targets.dtype), "target is {}: class numbers are int64 or int32", targets);
  target = targets;
  const size_t axis = scores.rank() == 1 ? 0 : 1;
  classes = scores.shape[axis];
  class_stride = scores.strides[axis];
  load_target = converter(targets.dtype, DType::kInt64);
  Dims shape = scores.shape, strides[3];
  strides[0] = scores.strides;
  shape.erase(axis);
  strides[0].erase(axis);
  // A single sample may come with a target of one dimension or none.
  const bool single = shape.empty() && targets.count() == 1;
  require(single || targets.shape == shape, "self is {}, target is {}: target must be {}", scores, targets, shape);
  strides[1] = single ? Dims() : targets.strides;
  if (third != nullptr) {
    require(third->shape == shape || (single && third->count() == 1),
            "target is {}, the loss is {}: with reduction 0 both have one shape", targets, *third);
    strides[2] = single ? Dims() : third->strides;
  }
  loop = make_ordered_loop(shape, {strides, third != nullptr ? size_t{3} : size_t{2}});
}

void check_weight(const Tensor& weight, int64_t classes) {
  if (!weight.defined()) return;
  require(weight.rank() == 1 && weight.shape[0] == classes, "weight is {}, self has {} classes: give each class one",
          weight, classes);
  require(is_floating(weight.dtype), "weight is {}: it must be floating point", weight);
}

// One element a position is touched: through a converter each, its call would cost more than the memory.
double score_at(const Tensor& scores, int64_t offset) {
  if (scores.dtype != DType::kFloat) return load_element(scores, offset);
  return static_cast<double>(reinterpret_cast<const float*>(scores.bytes())[offset]);
}

void store_gradient(const Tensor& gradient, int64_t offset, double value) {
  if (gradient.dtype == DType::kFloat)
    reinterpret_cast<float*>(gradient.bytes())[offset] = static_cast<float>(value);
  else
    store_element(gradient, offset, value);
}

double weight_of(const Tensor& weight, int64_t label) {
  return weight.defined() ? load_element(weight, label * weight.strides[0]) : 1.0;
}

struct NllLoss final : Operator {
  Tensor self, target, weight, out, total_weight;
  int64_t reduction = 1;
  int64_t ignore_index = -100;
  Positions positions;
  ReductionMode mode = ReductionMode::kMean;

  void prepare() override {
    mode = reduction_mode(reduction);
    positions.plan(self, target, mode == ReductionMode::kNone ? &out : nullptr);
    check_weight(weight, positions.classes);
    require(mode == ReductionMode::kNone || out.count() == 1, "out is {}: a reduced loss is one number", out);
    require(total_weight.count() == 1, "total_weight is {}: it is one number", total_weight);
  }
  void run() override;
  int64_t cost() const override { return 200 + 10 * positions.count(); }

 private:
  struct Sum {
    double loss = 0, weight = 0;
  };
  Sum run_part(int64_t begin, int64_t end) const;
};

NllLoss::Sum NllLoss::run_part(int64_t begin, int64_t end) const {
  Sum sum;
  LoopCursor at(positions.loop, begin);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t label = positions.target_at(at);
    double loss = 0;
    if (label != ignore_index && positions.names_class(label)) {
      const double w = weight_of(weight, label);
      loss = -w * score_at(self, at.offset(0) + label * positions.class_stride);
      sum.weight += w;
    } else if (label != ignore_index) {
      loss = std::numeric_limits<double>::quiet_NaN();
    }
    sum.loss += loss;
    if (mode == ReductionMode::kNone) store_element(out, at.offset(2), loss);
    if (i + 1 < end) at.advance(1);
  }
  return sum;
}

void NllLoss::run() {
  std::vector<Sum> sums(static_cast<size_t>((positions.count() + kPart - 1) / kPart));
  parallel_for(positions.count(), kPart,
               [&](int64_t begin, int64_t end) { sums[static_cast<size_t>(begin / kPart)] = run_part(begin, end); });
  Sum total;
  for (const Sum& s : sums) {
    total.loss += s.loss;
    total.weight += s.weight;
  }
  const bool reduced = mode != ReductionMode::kNone;
  // torch leaves the total at 0 where every sample has its own loss; a lone sample without a batch counts as reduced.
  store_element(total_weight, 0, reduced || self.rank() == 1 ? total.weight : 0);
  // Without a target that counts this is 0 / 0, NaN, as in torch.
  if (reduced) store_element(out, 0, mode == ReductionMode::kMean ? total.loss / total.weight : total.loss);
}

struct NllLossBackward final : Operator {
  Tensor grad_output, self, target, weight, total_weight, grad_input;
  int64_t reduction = 1;
  int64_t ignore_index = -100;
  Positions positions;
  Move clear;
  ReductionMode mode = ReductionMode::kMean;

  void prepare() override {
    mode = reduction_mode(reduction);
    require(grad_input.shape == self.shape, "grad_input is {}, self is {}: both have one shape", grad_input, self);
    positions.plan(grad_input, target, mode == ReductionMode::kNone ? &grad_output : nullptr);
    check_weight(weight, positions.classes);
    require(mode == ReductionMode::kNone || grad_output.count() == 1,
            "grad_output is {}: the gradient of a reduced loss is one number", grad_output);
    require(total_weight.count() == 1, "total_weight is {}: it is one number", total_weight);
    // Most elements of a gradient are 0: cleared at once, then one element a position is written.
    clear.plan(Operand{.tensor = {}, .scalar = Scalar(0)}, grad_input);
  }
  void run() override;
  int64_t cost() const override { return clear.cost() + 10 * positions.count(); }
};

void NllLossBackward::run() {
  clear.run();
  if (positions.count() == 0) return;
  const bool none = mode == ReductionMode::kNone;
  double scale = none ? 1 : load_element(grad_output);
  // The weight that the forward pass found: targets are not walked twice.
  if (mode == ReductionMode::kMean) scale /= load_element(total_weight);
  parallel_for(positions.count(), kPart, [&](int64_t begin, int64_t end) {
    LoopCursor at(positions.loop, begin);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t label = positions.target_at(at);
      if (label != ignore_index && positions.names_class(label)) {
        const double g = none ? load_element(grad_output, at.offset(2)) : scale;
        store_gradient(grad_input, at.offset(0) + label * positions.class_stride, -weight_of(weight, label) * g);
      }
      if (i + 1 < end) at.advance(1);
    }
  });
}

NPU_OPERATOR(NllLoss, "nll_loss", "loss", in<&NllLoss::self>("self"), in<&NllLoss::target>("target"),
             optional<&NllLoss::weight>("weight"), attr<&NllLoss::reduction>("reduction"),
             attr<&NllLoss::ignore_index>("ignore_index"), out<&NllLoss::out>("out"),
             out<&NllLoss::total_weight>("total_weight"));
NPU_OPERATOR(NllLossBackward, "nll_loss_backward", "loss", in<&NllLossBackward::grad_output>("grad_output"),
             in<&NllLossBackward::self>("self"), in<&NllLossBackward::target>("target"),
             optional<&NllLossBackward::weight>("weight"), attr<&NllLossBackward::reduction>("reduction"),
             attr<&NllLossBackward::ignore_index>("ignore_index"), in<&NllLossBackward::total_weight>("total_weight"),
             out<&NllLossBackward::grad_input>("grad_input"));

}  // namespace
}  // namespace npu::ops
