// SPDX-License-Identifier: Apache-2.0
// Cross entropy of the softmax of each row, against one class or against probabilities, and its gradient: one walk over
// the logits brings both. fp16 and bf16 are computed in float and rounded once.
#include <vector>

#include "ops/loss/cross_entropy_row.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

constexpr int64_t kMostShown = 64;  // labels in an error text

struct SoftmaxCrossEntropy final : Operator {
  Tensor self, target, labels, out, grad_input;

  void prepare() override;
  /// Raises 161002 when a label is no class; labels are values, so they are seen only here.
  void run() override;
  int64_t cost() const override { return 500 + 4 * self.count(); }

 private:
  void check();
  void read_classes();
  void run_rows(int64_t begin, int64_t end) const;

  DType slot_ = DType::kFloat;
  Rows x_, labels_, gradient_;
  std::vector<int64_t> classes_;
  CrossEntropyKernel kernel_ = nullptr;
};

void SoftmaxCrossEntropy::check() {
  require(self.rank() == 2 && is_floating(self.dtype), "self is {}: it holds logits [rows, classes]", self);
  require(target.defined() != labels.defined(), "give one of target (a class for each row) and labels (probabilities)");
  require(!target.defined() || (target.rank() == 1 && target.shape[0] == self.shape[0] && is_integer(target.dtype)),
          "target is {}, self is {}: each row needs the number of its class", target, self);
  require(!labels.defined() || (labels.shape == self.shape && is_floating(labels.dtype)),
          "labels is {}, self is {}: each logit needs its probability", labels, self);
  require(!out.defined() || (out.rank() == 1 && out.shape[0] == self.shape[0] && is_floating(out.dtype)),
          "out is {}, self is {}: there is one loss for each row", out, self);
  require(!grad_input.defined() || (grad_input.shape == self.shape && is_floating(grad_input.dtype)),
          "grad_input is {}, self is {}", grad_input, self);
}

void SoftmaxCrossEntropy::prepare() {
  check();
  slot_ = self.dtype == DType::kDouble ? DType::kDouble : DType::kFloat;
  kernel_ = cross_entropy_kernel(slot_);
  x_ = Rows(self, 1, slot_);
  if (labels.defined()) labels_ = Rows(labels, 1, slot_);
  if (grad_input.defined()) gradient_ = Rows(grad_input, 1, slot_);
  classes_.resize(target.defined() ? static_cast<size_t>(target.count()) : 0);
}

void SoftmaxCrossEntropy::read_classes() {
  if (!target.defined()) return;
  converter(target.dtype, DType::kInt64)(target.bytes(), target.strides[0], classes_.data(), 1, target.count());
  for (const int64_t label : classes_) {
    if (label >= 0 && label < self.shape[1]) continue;
    std::string all;
    for (size_t i = 0; i < classes_.size() && i < kMostShown; ++i) all += fmt::format(" {}", classes_[i]);
    // TensorFlow's text, which its users know.
    fail(Code::kNnInvalidParam,
         "Received a label value of {} which is outside the valid range of [0, {}).  Label values:{}{}", label,
         self.shape[1], all, classes_.size() > kMostShown ? " ..." : "");
  }
}

void SoftmaxCrossEntropy::run_rows(int64_t begin, int64_t end) const {
  const int64_t bytes = x_.row_bytes();
  const Scratch<std::byte> x(bytes), given(bytes), exponentials(bytes), made(bytes);
  for (int64_t row = begin; row < end; ++row) {
    // Computed where it is to lie, if that is dense and of the slot's dtype; else in `made`, and stored.
    void* gradient = grad_input.defined() ? gradient_.target(row, made) : nullptr;
    const double loss = kernel_({.x = x_.load(row, x),
                                 .labels = labels.defined() ? labels_.load(row, given) : nullptr,
                                 .label = target.defined() ? classes_[static_cast<size_t>(row)] : 0,
                                 .exponentials = exponentials,
                                 .gradient = gradient,
                                 .n = x_.length()});
    if (gradient != nullptr) gradient_.store(row, gradient);
    if (out.defined()) store_element(out, row * out.strides[0], loss);
  }
}

void SoftmaxCrossEntropy::run() {
  read_classes();
  // Without a class there is no loss: outputs of that shape are left as they are.
  if (x_.count() > 0 && x_.length() > 0) for_rows(x_, [this](int64_t begin, int64_t end) { run_rows(begin, end); });
}

NPU_OPERATOR(SoftmaxCrossEntropy, "softmax_cross_entropy", "loss", in<&SoftmaxCrossEntropy::self>("self"),
             optional<&SoftmaxCrossEntropy::target>("target"), optional<&SoftmaxCrossEntropy::labels>("labels"),
             optional_out<&SoftmaxCrossEntropy::out>("out"),
             optional_out<&SoftmaxCrossEntropy::grad_input>("grad_input"));

}  // namespace
}  // namespace npu::ops
