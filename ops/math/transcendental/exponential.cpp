// SPDX-License-Identifier: Apache-2.0
// Exponentials and logarithms.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/transcendental/exponential.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

// Two equal infinities stay what they are; their difference, behind `more`, is NaN.
template <class T>
HWY_INLINE T log_add(T x, T y, T more) {
  return x == y && abs_of(x) == std::numeric_limits<T>::infinity() ? x : max_of(x, y) + more;
}

constexpr PointOp kExponential[] = {
    NPU_POINT1("exp", "self", kReal | kComplex, exp_of(x)),
    NPU_POINT1("exp2", "self", kReal | kComplex, exp2_of(x)),
    NPU_POINT1("expm1", "self", kReal | kComplex, expm1_of(x)),
    NPU_POINT1("log", "self", kReal | kComplex, log_of(x)),
    NPU_POINT1("log2", "self", kReal | kComplex, log2_of(x)),
    NPU_POINT1("log10", "self", kReal | kComplex, log10_of(x)),
    NPU_POINT1("log1p", "self", kReal | kComplex, log1p_of(x)),
    // The larger one plus a term of a negative exponent: nothing overflows.
    NPU_POINT2("logaddexp", "self, other", kReal, log_add(x, y, log1p_of(exp_of(-abs_of(x - y))))),
    NPU_POINT2("logaddexp2", "self, other", kReal,
               log_add(x, y, log1p_of(exp2_of(-abs_of(x - y))) * decltype(x)(kLog2E))),
    // 0 wins over the logarithm, an infinite one included, but not over NaN.
    NPU_POINT2("xlogy", "self, other", kReal | kRounded, is_nan(y) ? y : (x == decltype(x)(0) ? x * x : x * log_of(y))),
};

std::span<const PointOp> exponential() { return kExponential; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", exponential)
