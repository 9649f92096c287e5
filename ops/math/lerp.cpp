// SPDX-License-Identifier: Apache-2.0
// Linear interpolation from self to end: tensors of one dtype.
#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

// How frameworks name the C++ type of elements in their messages.
std::string_view element_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat: return "float";
    case DType::kDouble: return "double";
    case DType::kHalf: return "c10::Half";
    case DType::kBFloat16: return "c10::BFloat16";
    case DType::kComplex64: return "c10::complex<float>";
    case DType::kComplex128: return "c10::complex<double>";
    default: return name_of(dtype);
  }
}

struct Lerp final : Delegate {
  Operand self, end, weight;
  Tensor out;

  void prepare() override {
    check("end", end, self.dtype());
    // A number without dimensions does not decide about the dtype.
    if (!weight.is_scalar() && weight.tensor.rank() > 0) check("weight", weight, self.dtype());
    restart();
    step("lerp_by", with("self", self), with("end", end), with("weight", weight), with("out", out));
  }

 private:
  static void check(std::string_view name, const Operand& given, DType wanted) {
    require(given.dtype() == wanted, "expected dtype {} for `{}` but got dtype {}", element_type(wanted), name,
            element_type(given.dtype()));
  }
};

NPU_OPERATOR(Lerp, "lerp", "math", in<&Lerp::self>("self"), in<&Lerp::end>("end"), in<&Lerp::weight>("weight"),
             out<&Lerp::out>("out"));

}  // namespace
}  // namespace npu::ops
