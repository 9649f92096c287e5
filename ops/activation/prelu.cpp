// SPDX-License-Identifier: Apache-2.0
// PReLU: a slope per channel for negative inputs. `weight` broadcasts with the input, or is the list of the channels'
// slopes (axis 1).
#include <algorithm>
#include <vector>

#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

// `weight` as a view with as many axes as `self`, which broadcasts with it.
Tensor by_channel(const Tensor& weight, const Tensor& self) {
  // Stride 0 on every axis: one slope serves an input of any rank, 0 included.
  if (weight.count() == 1) return weight.view(Dims(self.rank(), 1), Dims(self.rank(), 0));
  require(weight.rank() <= self.rank(), "weight is {}, self is {}: it has more dimensions", weight, self);
  const size_t lead = self.rank() - weight.rank();
  Dims shape(self.rank(), 1), strides(self.rank(), 0);
  // NumPy's rule, from the last axis. A list of slopes belongs to axis 1, and only an input without one broadcasts it.
  if (weight.rank() != 1 || self.rank() < 2) {
    std::copy(weight.shape.begin(), weight.shape.end(), shape.begin() + lead);
    std::copy(weight.strides.begin(), weight.strides.end(), strides.begin() + lead);
    return weight.view(shape, strides);
  }
  require(weight.shape[0] == self.shape[1],
          "weight has {} slopes, self is {}: give one slope for each of its {} channels", weight.shape[0], self,
          self.shape[1]);
  shape[1] = weight.shape[0];
  strides[1] = weight.strides[0];
  return weight.view(shape, strides);
}

struct Prelu final : Delegate {
  Tensor self, weight, out;

  void prepare() override {
    restart();
    step("prelu_by", with("self", Operand{self, {}}), with("weight", Operand{by_channel(weight, self), {}}),
         with("out", out));
  }
};

// The weight's gradient has the input's shape (the client sums it) or the weight's own.
struct PreluBackward final : Delegate {
  Tensor grad_output, self, weight, grad_input, grad_weight;

  void prepare() override {
    restart();
    const Operand grad{grad_output, {}}, input{self, {}};
    step("prelu_backward_self", with("grad_output", grad), with("self", input),
         with("weight", Operand{by_channel(weight, self), {}}), with("out", grad_input));
    if (grad_weight.shape == self.shape) {
      step("prelu_backward_weight", with("grad_output", grad), with("self", input), with("out", grad_weight));
      return;
    }
    const Tensor target = by_channel(grad_weight, self);
    // The products stand in float32 under half tensors too: the sum is rounded once, at the end.
    const DType wide = self.dtype == DType::kDouble ? DType::kDouble : DType::kFloat;
    // Held by the operator and not taken with each run, as the steps below are planned with its address.
    products_.resize(static_cast<size_t>(self.count()) * size_of(wide));
    const Tensor products = make_tensor(products_.data(), wide, self.shape);
    step("prelu_backward_weight", with("grad_output", grad), with("self", input), with("out", products));
    step("sum", with("self", products), with("dim", summed_axes(target)), with("keepdim", true), with("out", target));
  }

 private:
  std::vector<int64_t> summed_axes(const Tensor& target) const {
    std::vector<int64_t> axes;
    for (size_t axis = 0; axis < self.rank(); ++axis) {
      // An axis that the input has with size 1 as well is summed over one element, which changes nothing.
      if (target.shape[axis] == 1) axes.push_back(static_cast<int64_t>(axis));
    }
    return axes;
  }

  std::vector<std::byte> products_;
};

NPU_OPERATOR(Prelu, "prelu", "activation", in<&Prelu::self>("self"), in<&Prelu::weight>("weight"),
             out<&Prelu::out>("out"));
NPU_OPERATOR(PreluBackward, "prelu_backward", "activation", in<&PreluBackward::grad_output>("grad_output"),
             in<&PreluBackward::self>("self"), in<&PreluBackward::weight>("weight"),
             out<&PreluBackward::grad_input>("grad_input"), out<&PreluBackward::grad_weight>("grad_weight"));

}  // namespace
}  // namespace npu::ops
