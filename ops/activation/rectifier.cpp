// SPDX-License-Identifier: Apache-2.0
// Activations made of comparisons and a slope. NaN inputs stay NaN, as in
// torch.
#include "ops/vector/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/rectifier.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr PointOp kRectifier[] = {
    NPU_POINT1("relu", "self", kNumeric, max_of(x, decltype(x)(0))),
    NPU_POINT3("add_relu", "self, other, alpha=1", kNumeric, max_of(x + z * y, decltype(x)(0))),
    NPU_POINT3("threshold", "self, threshold=0, value=0", kNumeric, x <= y ? z : x),
    NPU_POINT3("threshold_backward", "grad_output, self, threshold=0", kNumeric, y <= z ? decltype(x)(0) : x),
    NPU_POINT2("leaky_relu", "self, negative_slope=0.01", kReal, x > decltype(x)(0) ? x : x * y),
    NPU_POINT3("leaky_relu_backward", "grad_output, self, negative_slope=0.01", kReal, y > decltype(x)(0) ? x : x * z),
};

std::span<const PointOp> rectifier() { return kRectifier; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(rectifier);
const PointFamily register_rectifier("activation", HWY_DYNAMIC_DISPATCH(rectifier)());
}  // namespace npu::ops
#endif
