// SPDX-License-Identifier: Apache-2.0
// The formulas of joined.cpp in which a sum follows a product: cmake/toolchain.cmake has this file compiled so that
// both are rounded, as the operators one by one do it.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/vector/chain/joined_hard.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

template <class T>
HWY_INLINE T hard_sigmoid_of(T x, T slope, T offset, T high, T low) {
  return max_of(min_of(x * slope + offset, high), low);
}

constexpr PointOp kJoinedHard[] = {
    NPU_POINT5("joined_hard_sigmoid", "x, slope, offset, high, low", kReal, hard_sigmoid_of(x, y, z, w, v)),
    NPU_POINT5("joined_hard_swish", "x, slope, offset, high, low", kReal, x* hard_sigmoid_of(x, y, z, w, v)),
};

std::span<const PointOp> joined_hard() { return kJoinedHard; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("activation", joined_hard)
