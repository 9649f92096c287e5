// SPDX-License-Identifier: Apache-2.0
// Bits of integers; bools behave logically.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/logic/bitwise.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

HWY_INLINE bool not_of(bool x) { return !x; }
HWY_INLINE int64_t not_of(int64_t x) { return ~x; }

// Shifting by the width or more, or by less than nothing, leaves no bit but the sign's.
HWY_INLINE int64_t left_shift(int64_t x, int64_t places) {
  const bool fits = places >= 0 && places < 64;
  return fits ? static_cast<int64_t>(static_cast<uint64_t>(x) << (fits ? places : 0)) : 0;
}
HWY_INLINE int64_t right_shift(int64_t x, int64_t places) { return x >> (places >= 0 && places < 63 ? places : 63); }

constexpr PointOp kBitwise[] = {
    NPU_POINT1("bitwise_not", "self", kInteger | kTruth, not_of(x)),
    NPU_POINT2("bitwise_and", "self, other", kInteger | kTruth, static_cast<decltype(x)>(x& y)),
    NPU_POINT2("bitwise_or", "self, other", kInteger | kTruth, static_cast<decltype(x)>(x | y)),
    NPU_POINT2("bitwise_xor", "self, other", kInteger | kTruth, static_cast<decltype(x)>(x ^ y)),
    NPU_POINT2("left_shift", "self, other", kInteger, left_shift(x, y)),
    NPU_POINT2("right_shift", "self, other", kInteger, right_shift(x, y)),
};

std::span<const PointOp> bitwise() { return kBitwise; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", bitwise)
