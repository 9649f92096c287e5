// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/element/decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tools/compare/element/small_float.h"

namespace npu::compare {
namespace {

std::vector<float> decoded(int32_t number, const std::vector<uint8_t>& bytes, size_t count) {
  std::vector<float> found(count);
  decode(graph::record::data_type(number), std::as_bytes(std::span(bytes)), 0, count, found.data());
  return found;
}

TEST(Decode, BytesOfFloatsHaveTheirLimits) {
  EXPECT_EQ(float8_e4m3fn(0x7e), 448.0f);
  EXPECT_EQ(float8_e4m3fn(0x01), std::ldexp(1.0f, -9));
  EXPECT_TRUE(std::isnan(float8_e4m3fn(0xff)));
  EXPECT_EQ(float8_e5m2(0x7b), 57344.0f);
  EXPECT_EQ(float8_e5m2(0xfc), -INFINITY);
  EXPECT_EQ(float8_e5m2(0x81), -std::ldexp(1.0f, -16));
  EXPECT_EQ(float8_e8m0(127), 1.0f);
  EXPECT_TRUE(std::isnan(float8_e8m0(255)));
}

TEST(Decode, TaperedFloatsRiseWithTheirExponent) {
  EXPECT_EQ(hifloat8(0x08), 1.0f);
  EXPECT_EQ(hifloat8(0x0f), 1.875f);
  EXPECT_EQ(hifloat8(0x10), 2.0f);
  EXPECT_EQ(hifloat8(0x18), 0.5f);
  EXPECT_EQ(hifloat8(0x6e), 32768.0f);
  EXPECT_EQ(hifloat8(0xef), -INFINITY);
  EXPECT_EQ(hifloat8(0x01), std::ldexp(1.0f, -22));
  EXPECT_TRUE(std::isnan(hifloat8(0x80)));
}

TEST(Decode, SmallElementsAreUnpacked) {
  EXPECT_EQ(decoded(28, {0x8f, 0x07}, 3), (std::vector<float>{-1, -8, 7}));
  EXPECT_EQ(decoded(29, {0x80, 0x01}, 16).front(), 1.0f);
  EXPECT_EQ(decoded(29, {0x80, 0x01}, 16).back(), 1.0f);
  EXPECT_EQ(decoded(31, {0xe4}, 4), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(decoded(39, {0x7f}, 2), (std::vector<float>{-6, 6}));
  EXPECT_EQ(decoded(37, {0x1f, 0, 0}, 1), (std::vector<float>{28}));
}

TEST(Decode, EveryTypeHasANumberOrIsTold) {
  const std::vector<uint8_t> bytes(64);
  for (const DataType& type : graph::record::data_types()) {
    if (!can_decode(type)) continue;
    EXPECT_EQ(decoded(type.number, bytes, 2)[0], type.number == 36 ? std::ldexp(1.0f, -127) : 0.0f) << type.name;
  }
}

}  // namespace
}  // namespace npu::compare
