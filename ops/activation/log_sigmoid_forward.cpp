// SPDX-License-Identifier: Apache-2.0
// log(sigmoid(x)) for training: `buffer` gets e^-|x| when the client gives it the input's shape (it may be empty).
#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

struct LogSigmoidForward final : Delegate {
  Operand self;
  Tensor out, buffer;

  void prepare() override {
    restart();
    step("log_sigmoid", with("self", self), with("out", out));
    // For clients that ask for it: log_sigmoid_backward takes the input and needs no buffer.
    if (buffer.defined() && buffer.shape == self.tensor.shape) {
      step("log_sigmoid_buffer", with("self", self), with("out", buffer));
    }
  }
};

NPU_OPERATOR(LogSigmoidForward, "log_sigmoid_forward", "activation", in<&LogSigmoidForward::self>("self"),
             out<&LogSigmoidForward::out>("out"), optional_out<&LogSigmoidForward::buffer>("buffer"));

}  // namespace
}  // namespace npu::ops
