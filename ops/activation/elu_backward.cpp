// SPDX-License-Identifier: Apache-2.0
// The gradient of ELU, from its input or from its result.
// Frameworks differ in what they keep for the backward pass: an operator that ran in place has the result only.
#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

struct EluBackward final : Delegate {
  Operand grad_output, self_or_result;
  Operand alpha{{}, 1}, scale{{}, 1}, input_scale{{}, 1};
  bool is_result = false;
  Tensor out;

  void prepare() override {
    // The result of a negative slope does not tell the sign of its input.
    require(!is_result || !alpha.is_scalar() || alpha.scalar.to_double() >= 0,
            "alpha is {} and is_result is true: in-place elu backward calculation is triggered with a negative slope "
            "which is not supported",
            alpha.scalar.to_double());
    restart();
    // From the result no exponential is needed: alpha · scale · e^x is the result plus alpha · scale.
    step(is_result ? "elu_backward_result" : "elu_backward_input", with("grad_output", grad_output),
         with("self_or_result", self_or_result), with("alpha", alpha), with("scale", scale),
         with("input_scale", input_scale), with("out", out));
  }
};

NPU_OPERATOR(EluBackward, "elu_backward", "activation", in<&EluBackward::grad_output>("grad_output"),
             attr<&EluBackward::alpha>("alpha"), attr<&EluBackward::scale>("scale"),
             attr<&EluBackward::input_scale>("input_scale"), attr<&EluBackward::is_result>("is_result"),
             in<&EluBackward::self_or_result>("self_or_result"), out<&EluBackward::out>("out"));

}  // namespace
}  // namespace npu::ops
