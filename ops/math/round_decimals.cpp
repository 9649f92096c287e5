// SPDX-License-Identifier: Apache-2.0
// Rounding to decimal places: positive ones scale up before rounding, negative ones down, as torch does in this order.
#include <cmath>

#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

struct RoundDecimals final : Delegate {
  Operand self;
  int64_t decimals = 0;
  Tensor out;

  void prepare() override {
    restart();
    const bool whole = !is_floating(self.dtype());  // integers have no places to lose to the right of the point
    if (decimals == 0 || (whole && decimals > 0)) return step("round", with("self", self), with("out", out));
    const double power = std::pow(10.0, static_cast<double>(std::abs(decimals)));
    const Operand scale{{}, Scalar(power)};
    step(decimals > 0 ? "round_fraction" : "round_multiple", with("self", self), with("scale", scale),
         with("out", out));
  }
};

NPU_OPERATOR(RoundDecimals, "round_decimals", "math", in<&RoundDecimals::self>("self"),
             attr<&RoundDecimals::decimals>("decimals"), out<&RoundDecimals::out>("out"));

}  // namespace
}  // namespace npu::ops
