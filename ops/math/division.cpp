// SPDX-License-Identifier: Apache-2.0
// Division that rounds, remainders and common divisors.
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/division.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/elementwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

// Euclid on magnitudes: the least integer has none of its own sign and comes out as it is.
HWY_INLINE int64_t gcd_of(int64_t x, int64_t y) {
  auto a = static_cast<uint64_t>(x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x));
  auto b = static_cast<uint64_t>(y < 0 ? -static_cast<uint64_t>(y) : static_cast<uint64_t>(y));
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return static_cast<int64_t>(a);
}

constexpr PointOp kDivision[] = {
    // Quotients that float cannot hold exactly are rare: those elements are computed again by the library's exact fmod.
    NPU_POINT2_RARE("fmod", "self, other", kNumeric | kRounded, fmod_of(x, y), is_beyond_quotient(x, y),
                    std::fmod(x, y)),
    NPU_POINT2_RARE("remainder", "self, other", kNumeric | kRounded, remainder_of(x, y), is_beyond_quotient(x, y),
                    python_sign(std::fmod(x, y), y)),
    NPU_POINT2_RARE("floor_divide", "self, other", kNumeric, floor_divide(x, y), is_beyond_quotient(x, y),
                    floor_from_rest(x, y, std::fmod(x, y))),
    NPU_POINT2("trunc_divide", "self, other", kNumeric, trunc_divide(x, y)),
    NPU_POINT2("gcd", "self, other", kInteger, gcd_of(x, y)),
};

std::span<const PointOp> division() { return kDivision; }

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NPU_POINT_FAMILY("math", division)
