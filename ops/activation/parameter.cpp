// SPDX-License-Identifier: Apache-2.0
// Activations whose numbers have bounds: these are checked, then the line of that activation is called. The sentences
// are those that users of frameworks know.
#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

struct Softshrink final : Delegate {
  Operand self;
  Scalar lambd = 0.5;
  Tensor out;

  void prepare() override {
    // A NaN is not negative.
    require(!(lambd.to_double() < 0), "lambd is {}: lambda must be greater or equal to 0, but found to be {}",
            lambd.to_double(), lambd.to_double());
    restart();
    step("softshrink_by", with("self", self), with("lambd", Operand{{}, lambd}), with("out", out));
  }
};

struct Celu final : Delegate {
  Operand self;
  Scalar alpha = 1;
  Tensor out;

  void prepare() override {
    require(alpha.to_double() != 0, "alpha is 0: alpha cannot be 0 for CELU");
    restart();
    step("celu_by", with("self", self), with("alpha", Operand{{}, alpha}), with("out", out));
  }
};

struct BoundedHardtanh final : Delegate {
  Operand self;
  Scalar min_val = -1, max_val = 1;
  Tensor out;

  void prepare() override {
    require(self.dtype() != DType::kUInt8 || (min_val.to_double() >= 0 && max_val.to_double() >= 0),
            "min_val is {}, max_val is {}: cannot do hardtanh on an unsigned type with negative limits",
            min_val.to_double(), max_val.to_double());
    restart();
    step("hardtanh", with("self", self), with("min_val", Operand{{}, min_val}), with("max_val", Operand{{}, max_val}),
         with("out", out));
  }
};

// The result of a negative slope does not tell the sign of its input.
struct LeakySlope final : Delegate {
  Operand grad_output, self;
  Scalar negative_slope = 0.01;
  bool is_result = false;
  Tensor out;

  void prepare() override {
    require(!is_result || negative_slope.to_double() >= 0,
            "negative_slope is {} and self is the result: in-place leakyReLu backward calculation is triggered with a "
            "negative slope which is not supported",
            negative_slope.to_double());
    restart();
    step("leaky_relu_backward", with("grad_output", grad_output), with("self", self),
         with("negative_slope", Operand{{}, negative_slope}), with("out", out));
  }
};

NPU_OPERATOR(Softshrink, "softshrink", "activation", in<&Softshrink::self>("self"), attr<&Softshrink::lambd>("lambd"),
             out<&Softshrink::out>("out"));
NPU_OPERATOR(Celu, "celu", "activation", in<&Celu::self>("self"), attr<&Celu::alpha>("alpha"), out<&Celu::out>("out"));
NPU_OPERATOR(BoundedHardtanh, "bounded_hardtanh", "activation", in<&BoundedHardtanh::self>("self"),
             attr<&BoundedHardtanh::min_val>("min_val"), attr<&BoundedHardtanh::max_val>("max_val"),
             out<&BoundedHardtanh::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(LeakySlope, "leaky_relu_slope", "activation", in<&LeakySlope::grad_output>("grad_output"),
             in<&LeakySlope::self>("self"), attr<&LeakySlope::negative_slope>("negative_slope"),
             attr<&LeakySlope::is_result>("is_result"), out<&LeakySlope::out>("out"));

}  // namespace
}  // namespace npu::ops
