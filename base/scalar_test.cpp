// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace npu {
namespace {

template <class T>
Scalar scalar_of(T value) {
  return {&value, dtype_of<T>};
}

TEST(Scalar, ReadsEveryElementType) {
  EXPECT_EQ(scalar_of<int8_t>(-3).to_int(), -3);
  EXPECT_EQ(scalar_of<uint16_t>(65535).to_int(), 65535);
  EXPECT_EQ(scalar_of(2.5).to_double(), 2.5);
  EXPECT_EQ(scalar_of(0.1).to_double(), 0.1);
  EXPECT_EQ(scalar_of(Half(1.5f)).to_double(), 1.5);
  EXPECT_EQ(scalar_of(Complex64(1, -2)).to_complex(), Complex128(1, -2));
  EXPECT_TRUE(scalar_of(true).to_bool());
}

TEST(Scalar, LargeUnsignedNumbersStayPositive) {
  const Scalar s = scalar_of(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(s.to_double(), 18446744073709551616.0);
  EXPECT_EQ(s.to_int(), -1);
}

TEST(Scalar, ABoolIsAnyNonZeroByte) {
  const uint8_t two = 2;
  EXPECT_EQ(Scalar(&two, DType::kBool).to_int(), 1);
}

TEST(Scalar, NumbersOutsideInt64AreHeldAtItsEnds) {
  EXPECT_EQ(Scalar(1e300).to_int(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Scalar(-INFINITY).to_int(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Scalar(NAN).to_int(), 0);
  EXPECT_EQ(Scalar(-2.9).to_int(), -2);
}

TEST(Scalar, ALeftOutScalarIsNotDefined) {
  EXPECT_FALSE(Scalar().defined());
  EXPECT_TRUE(Scalar(0).defined());
  EXPECT_FALSE(Scalar(Complex128(0, 0)).to_bool());
  EXPECT_TRUE(Scalar(Complex128(0, 1)).to_bool());
}

TEST(Scalar, TypesWithoutElementsAreRefused) {
  const int64_t zero = 0;
  EXPECT_THROW(Scalar(&zero, DType::kString), Error);
}

}  // namespace
}  // namespace npu
