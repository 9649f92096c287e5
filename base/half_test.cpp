// SPDX-License-Identifier: Apache-2.0
#include "base/half.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <cmath>

namespace npu {
namespace {

__attribute__((target("f16c"))) uint16_t hardware_half(float value) {
  return static_cast<uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT));
}
__attribute__((target("f16c"))) float hardware_float(uint16_t bits) { return _cvtsh_ss(bits); }

uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }

// Every 251st float (a prime, so all exponents and low bits are met) and the neighbours of every half's edges.
template <class F>
void for_many_floats(F&& f) {
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 251) f(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const uint32_t exact = bits_of(Half::to_float(static_cast<uint16_t>(half)));
    for (uint32_t step = 0; step < 0x4000; step += 0xfff)
      for (uint32_t near = 0; near < 3; ++near) f(std::bit_cast<float>(exact + step + near - 1));
  }
}

TEST(Half, EveryHalfBecomesTheFloatTheHardwareGives) {
  if (!__builtin_cpu_supports("f16c")) GTEST_SKIP() << "this CPU has no half conversions to compare with";
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float ours = Half::to_float(static_cast<uint16_t>(bits));
    const float theirs = hardware_float(static_cast<uint16_t>(bits));
    if (std::isnan(theirs)) {
      ASSERT_TRUE(std::isnan(ours)) << bits;
    } else {
      ASSERT_EQ(bits_of(ours), bits_of(theirs)) << bits;
    }
  }
}

TEST(Half, FloatsRoundAsTheHardwareRounds) {
  if (!__builtin_cpu_supports("f16c")) GTEST_SKIP() << "this CPU has no half conversions to compare with";
  for_many_floats([](float value) {
    const uint16_t ours = Half::from_float(value);
    const uint16_t theirs = hardware_half(value);
    if (ours != theirs) FAIL() << bits_of(value) << " gave " << ours << ", the hardware gives " << theirs;
  });
}

TEST(Half, EveryHalfSurvivesTheWayThroughFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const bool nan = (bits & 0x7fffu) > 0x7c00u;
    ASSERT_EQ(Half::from_float(Half::to_float(half)), nan ? half | 0x200u : half);
  }
}

// bfloat16 has float's exponent: the nearest one is found by looking at both neighbours in double.
TEST(BFloat16, RoundsToTheNearestAndToEvenOnTies) {
  for_many_floats([](float value) {
    const uint16_t got = BFloat16::from_float(value);
    const uint32_t bits = bits_of(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(std::bit_cast<BFloat16>(got)))) << bits;
      return;
    }
    const uint32_t below = bits >> 16;
    const uint32_t rest = bits & 0xffffu;
    const bool up = rest > 0x8000u || (rest == 0x8000u && (below & 1u) != 0);
    ASSERT_EQ(got, below + (up ? 1 : 0)) << bits;
  });
}

TEST(BFloat16, KeepsInfinityAndSign) {
  EXPECT_EQ(BFloat16(INFINITY).bits, 0x7f80);
  EXPECT_EQ(BFloat16(-INFINITY).bits, 0xff80);
  EXPECT_EQ(BFloat16(-0.0f).bits, 0x8000);
  EXPECT_TRUE(std::isinf(static_cast<float>(BFloat16(3.4e38f))));
}

}  // namespace
}  // namespace npu
