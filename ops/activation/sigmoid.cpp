// SPDX-License-Identifier: Apache-2.0
// Sigmoid, tanh and their relatives.
#include "ops/vector/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/sigmoid.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kSigmoid[] = {
    NPU_POINT1("sigmoid", "self", kReal | kComplex, sigmoid_of(x)),
    NPU_POINT2("sigmoid_backward", "grad_output, output", kReal | kComplex, x*(decltype(x)(1) - y) * y),
    NPU_POINT1("tanh", "self", kReal | kComplex, tanh_of(x)),
    NPU_POINT2("tanh_backward", "grad_output, output", kReal | kComplex, x*(decltype(x)(1) - y * y)),
};

std::span<const PointOp> sigmoid() { return kSigmoid; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(sigmoid);
const PointFamily register_sigmoid("activation", HWY_DYNAMIC_DISPATCH(sigmoid)());
}  // namespace npu::ops
#endif
