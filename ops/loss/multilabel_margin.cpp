// SPDX-License-Identifier: Apache-2.0
// Margin loss of several labels a sample: every label's score should exceed every other class's by 1.
#include <cmath>

#include "ops/loss/reduction_mode.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

struct MultilabelMarginLoss final : Operator {
  Tensor self, target, out, is_target;
  int64_t reduction = 1;
  Rows scores, labels, marks;

  void prepare() override {
    require(self.rank() <= 2 && is_floating(self.dtype), "self is {}; it must be floating point, [C] or [N, C]", self);
    check_shape(target, "target", self.shape);
    require(is_integer(target.dtype), "target is {}; class numbers are int64 or int32", target);
    check_shape(is_target, "is_target", target.shape);
    const Tensor x = line(self);
    const size_t axis = x.rank() - 1;
    scores = Rows(x, axis, DType::kDouble);
    labels = Rows(line(target), axis, DType::kInt64);
    marks = Rows(line(is_target), axis, DType::kDouble);
    const bool whole = reduction_mode(reduction) != ReductionMode::kNone || self.rank() < 2;
    require(out.count() == (whole ? 1 : self.shape[0]), "out is {}; reduction {} of self ({}) gives {} numbers", out,
            reduction, self, whole ? 1 : self.shape[0]);
  }
  void run() override;
  int64_t cost() const override { return 500 + 10 * self.count(); }

 private:
  // A scalar is one class.
  static Tensor line(const Tensor& t) { return t.rank() == 0 ? t.view({1}, {1}) : t; }
  double run_row(int64_t row) const;
};

// Labels of a sample end at the first negative one.
double MultilabelMarginLoss::run_row(int64_t row) const {
  const int64_t classes = scores.length();
  const Scratch<double> score_buffer(classes), mark(classes), mark_buffer(classes);
  const Scratch<int64_t> label_buffer(classes);
  const auto* x = static_cast<const double*>(scores.load(row, score_buffer));
  const auto* label = static_cast<const int64_t*>(labels.load(row, label_buffer));
  std::fill(mark.data(), mark.data() + classes, 0.0);
  int64_t given = 0;
  for (; given < classes && label[given] >= 0; ++given) {
    // Parallel parts may not raise: the row says so by a loss that cannot be, and run raises.
    if (label[given] >= classes) return -1;
    mark[label[given]] = 1;
  }
  double total = 0;
  for (int64_t k = 0; k < given; ++k) {
    for (int64_t c = 0; c < classes; ++c) {
      // A NaN score loses the comparison and adds nothing, as in torch.
      if (mark[c] == 0) total += std::max(0.0, 1 - x[label[k]] + x[c]);
    }
  }
  auto* to = static_cast<double*>(marks.target(row, mark_buffer));
  std::copy_n(mark.data(), classes, to);
  marks.store(row, to);
  // By all classes, targets included, as torch divides.
  return total / static_cast<double>(classes);
}

void MultilabelMarginLoss::run() {
  const auto mode = reduction_mode(reduction);
  std::vector<double> losses(static_cast<size_t>(scores.count()));
  for_rows(scores, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) losses[static_cast<size_t>(row)] = run_row(row);
  });
  double total = 0;
  // In row order: the sum does not depend on who computed which row.
  for (size_t row = 0; row < losses.size(); ++row) {
    if (losses[row] < 0)
      fail(Code::kNnInvalidParam, "target names a class of row {} that self ({}) does not have", row, self);
    total += losses[row];
    if (mode == ReductionMode::kNone && out.rank() == 1)
      store_element(out, static_cast<int64_t>(row) * out.strides[0], losses[row]);
  }
  if (mode == ReductionMode::kNone && out.rank() == 1) return;
  if (mode == ReductionMode::kMean) total /= static_cast<double>(losses.size());
  store_element(out, 0, total);
}

NPU_OPERATOR(MultilabelMarginLoss, "multilabel_margin_loss", "loss", in<&MultilabelMarginLoss::self>("self"),
             in<&MultilabelMarginLoss::target>("target"), attr<&MultilabelMarginLoss::reduction>("reduction"),
             out<&MultilabelMarginLoss::out>("out"), out<&MultilabelMarginLoss::is_target>("is_target"));

}  // namespace
}  // namespace npu::ops
