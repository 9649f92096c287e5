// SPDX-License-Identifier: Apache-2.0
// Truth values: anything but zero is true.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/logic/logical.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

template <class T>
HWY_INLINE bool is_true(T x) {
  return x != T(0);
}

constexpr PointOp kLogical[] = {
    NPU_POINT1("logical_not", "self", kNumeric | kComplex, !is_true(x)),
    // & and not &&: no branch, so the loop becomes vector code.
    NPU_POINT2("logical_and", "self, other", kNumeric | kComplex, static_cast<bool>(is_true(x) & is_true(y))),
    NPU_POINT2("logical_or", "self, other", kNumeric | kComplex, static_cast<bool>(is_true(x) | is_true(y))),
    NPU_POINT2("logical_xor", "self, other", kNumeric | kComplex, is_true(x) != is_true(y)),
    NPU_POINT3("or_and", "self, left, right", kTruth, static_cast<bool>(x | (y & z))),
};

std::span<const PointOp> logical() { return kLogical; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", logical)
