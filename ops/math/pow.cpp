// SPDX-License-Identifier: Apache-2.0
// pow: exponents that are small host numbers become multiplications and roots, exactly where torch does so (this
// decides the results at -0 and -inf); everything else is the general `power`.
#include <string_view>

#include "ops/runner/delegate.h"
#include "ops/vector/elementwise/pointwise.h"

namespace npu::ops {
namespace {

struct Pow final : Delegate {
  Operand self, exponent;
  Tensor out;

  void prepare() override {
    restart();
    const Operand* both[] = {&self, &exponent};
    const DType dtype = promote(both);
    const std::string_view name = shortcut(dtype);
    if (name == "power") return step(name, with("self", self), with("exponent", exponent), with("out", out));
    // Before the step is chosen: a refusal should name pow, not the operator that stands in for it.
    require_castable("pow", dtype, out);
    step(name, with("self", self), with("out", out));
  }

 private:
  std::string_view shortcut(DType dtype) const {
    if (!exponent.is_scalar() || !is_floating(dtype)) return "power";
    const double e = exponent.scalar.to_double();
    if (e == 0.5) return "sqrt";
    if (e == -0.5) return "rsqrt";
    if (e == 2.0) return "square";
    if (e == 3.0) return "cube";
    if (e == -1.0) return "reciprocal";
    return e == -2.0 ? "inverse_square" : "power";
  }
};

NPU_OPERATOR(Pow, "pow", "math", in<&Pow::self>("self"), in<&Pow::exponent>("exponent"), out<&Pow::out>("out"));

}  // namespace
}  // namespace npu::ops
