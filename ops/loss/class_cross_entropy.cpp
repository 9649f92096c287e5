// SPDX-License-Identifier: Apache-2.0
// The end of a cross entropy with one class per row: `self` holds log probabilities [n, c], `grad_input` the
// probabilities. Each row's loss is minus the logarithm at its class, and its gradient the probabilities with 1 taken
// off there.
#include <cmath>
#include <vector>

#include "ops/operator.h"
#include "ops/vector/element.h"

namespace npu::ops {
namespace {

constexpr int64_t kMostShown = 64;  // labels in an error text

struct ClassCrossEntropy final : Operator {
  Tensor self, target, out, grad_input;
  Convert load_target = nullptr;
  std::vector<int64_t> labels;

  void prepare() override;
  /// Raises 161002 when a label is no class; labels are values, so they are seen only here.
  void run() override;
  int64_t cost() const override { return 200 + 20 * target.count(); }

 private:
  void read_labels();
};

void ClassCrossEntropy::prepare() {
  require(self.rank() == 2 && is_floating(self.dtype), "self is {}: it holds log probabilities [rows, classes]", self);
  require(target.rank() == 1 && target.shape[0] == self.shape[0] && is_integer(target.dtype),
          "target is {}, self is {}: each row needs the number of its class", target, self);
  require(out.shape == target.shape && is_floating(out.dtype), "out is {}, target {}: one loss for each row", out,
          target);
  require(grad_input.shape == self.shape && is_floating(grad_input.dtype), "grad_input is {}, self {}", grad_input,
          self);
  load_target = converter(target.dtype, DType::kInt64);
  labels.resize(static_cast<size_t>(target.count()));
}

void ClassCrossEntropy::read_labels() {
  load_target(target.bytes(), target.strides[0], labels.data(), 1, target.count());
  for (const int64_t label : labels) {
    if (label >= 0 && label < self.shape[1]) continue;
    std::string all;
    for (size_t i = 0; i < labels.size() && i < kMostShown; ++i) all += fmt::format(" {}", labels[i]);
    fail(Code::kNnInvalidParam,
         "Received a label value of {} which is outside the valid range of [0, {}).  Label values:{}{}", label,
         self.shape[1], all, labels.size() > kMostShown ? " ..." : "");
  }
}

void ClassCrossEntropy::run() {
  read_labels();
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const double log = load_element(self, row * self.strides[0] + labels[i] * self.strides[1]);
    store_element(out, row * out.strides[0], -log);
    store_element(grad_input, row * grad_input.strides[0] + labels[i] * grad_input.strides[1], std::exp(log) - 1);
  }
}

NPU_OPERATOR(ClassCrossEntropy, "class_cross_entropy", "loss", in<&ClassCrossEntropy::self>("self"),
             in<&ClassCrossEntropy::target>("target"), out<&ClassCrossEntropy::out>("out"),
             inout<&ClassCrossEntropy::grad_input>("grad_input"));

}  // namespace
}  // namespace npu::ops
