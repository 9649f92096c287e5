// SPDX-License-Identifier: Apache-2.0
// GELU with its form as an argument: a number (0 exact, 1 tanh) forwards, a word ("none", "tanh") backwards.
// Only the words are checked: any number but 0 means tanh, as in the other operators that take one.
#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

bool is_tanh(const std::string& form) {
  require(form == "none" || form == "tanh", "approximate is '{}'; it must be 'none' or 'tanh'", form);
  return form == "tanh";
}

struct GeluMode final : Delegate {
  Operand self;
  int64_t approximate = 0;
  Tensor out;

  void prepare() override {
    restart();
    step(approximate == 0 ? "gelu" : "gelu_tanh", with("self", self), with("out", out));
  }
};

struct GeluBackwardMode final : Delegate {
  Operand grad_output, self;
  std::string approximate = "none";
  Tensor out;

  void prepare() override {
    restart();
    step(is_tanh(approximate) ? "gelu_tanh_backward" : "gelu_backward", with("grad_output", grad_output),
         with("self", self), with("out", out));
  }
};

NPU_OPERATOR(GeluMode, "gelu_mode", "activation", in<&GeluMode::self>("self"),
             attr<&GeluMode::approximate>("approximate"), out<&GeluMode::out>("out"));
NPU_OPERATOR(GeluBackwardMode, "gelu_backward_mode", "activation", in<&GeluBackwardMode::grad_output>("grad_output"),
             in<&GeluBackwardMode::self>("self"), attr<&GeluBackwardMode::approximate>("approximate"),
             out<&GeluBackwardMode::out>("out"));

}  // namespace
}  // namespace npu::ops
