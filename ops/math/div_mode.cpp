// SPDX-License-Identifier: Apache-2.0
// Division with a rounding mode: 0 none, 1 towards zero, 2 down.
#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

struct DivMode final : Delegate {
  Operand self, other;
  int64_t mode = 0;
  Tensor out;

  void prepare() override {
    constexpr std::string_view kNames[] = {"div", "trunc_divide", "floor_divide"};
    require(mode >= 0 && mode <= 2, "mode is {}; it must be 0 (none), 1 (trunc) or 2 (floor)", mode);
    restart();
    step(kNames[mode], with("self", self), with("other", other), with("out", out));
  }
};

NPU_OPERATOR(DivMode, "div_mode", "math", in<&DivMode::self>("self"), in<&DivMode::other>("other"),
             attr<&DivMode::mode>("mode"), out<&DivMode::out>("out"));

}  // namespace
}  // namespace npu::ops
