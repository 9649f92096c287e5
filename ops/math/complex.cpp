// SPDX-License-Identifier: Apache-2.0
// Complex numbers from their parts, or from length and angle: both of one floating-point dtype.
#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

struct FromTwo : Delegate {
  Operand first, second;
  Tensor out;

 protected:
  void plan(std::string_view line, std::string_view first_name, std::string_view second_name) {
    require(is_floating(first.dtype()) && first.dtype() == second.dtype(),
            "{} is {}, {} is {}; both have one floating-point dtype", first_name, first.dtype(), second_name,
            second.dtype());
    restart();
    step(line, with(first_name, first), with(second_name, second), with("out", out));
  }
};

struct ComplexOp final : FromTwo {
  void prepare() override { plan("complex_of_parts", "real", "imag"); }
};
struct Polar final : FromTwo {
  void prepare() override { plan("complex_of_polar", "abs", "angle"); }
};

NPU_OPERATOR(ComplexOp, "complex", "math", in<&ComplexOp::first>("real"), in<&ComplexOp::second>("imag"),
             out<&ComplexOp::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(Polar, "polar", "math", in<&Polar::first>("abs"), in<&Polar::second>("angle"), out<&Polar::out>("out"));

}  // namespace
}  // namespace npu::ops
