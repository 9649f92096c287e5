// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

#include <gtest/gtest.h>

namespace npu {
namespace {

TEST(DType, EveryTypeWithKernelsHasItsCppTypesSize) {
  int visited = 0;
  for (int32_t n = 0; n < 64; ++n) {
    const auto dtype = static_cast<DType>(n);
    const bool known = visit_dtype(dtype, [&](auto zero) {
      EXPECT_EQ(size_of(dtype), sizeof(zero)) << name_of(dtype);
      EXPECT_EQ(dtype_of<decltype(zero)>, dtype);
    });
    visited += known ? 1 : 0;
    EXPECT_EQ(known, info(dtype).category != DTypeInfo::Category::kOther) << name_of(dtype);
  }
  EXPECT_EQ(visited, 15);
}

TEST(DType, UnknownNumbersAreHarmless) {
  for (const int32_t n : {-1, 5, 63, 64, 1 << 30, INT32_MIN}) {
    EXPECT_EQ(name_of(static_cast<DType>(n)), "unknown") << n;
    EXPECT_EQ(size_of(static_cast<DType>(n)), 0u) << n;
  }
}

TEST(DType, Categories) {
  EXPECT_TRUE(is_floating(DType::kBFloat16));
  EXPECT_TRUE(is_complex(DType::kComplex64));
  EXPECT_TRUE(is_integer(DType::kUInt8));
  EXPECT_FALSE(is_integer(DType::kBool));
  EXPECT_EQ(real_of(DType::kComplex128), DType::kDouble);
  EXPECT_EQ(real_of(DType::kHalf), DType::kHalf);
}

}  // namespace
}  // namespace npu
