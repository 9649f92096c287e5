// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/data_type.h"

#include <gtest/gtest.h>

#include "graph/dump/record/format.h"

namespace npu::graph::record {
namespace {

TEST(DataType, StandsAtTheNumberThatItHas) {
  ASSERT_EQ(data_types().size(), 43u);
  for (size_t i = 0; i < data_types().size(); ++i) EXPECT_EQ(data_types()[i].number, static_cast<int32_t>(i));
  EXPECT_EQ(data_type(-1).number, 0);
  EXPECT_EQ(data_type(43).number, 0);
}

TEST(DataType, OfOursGoesThereAndBackWithItsSize) {
  for (int32_t number = 0; number < 64; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (info(dtype).dtype == DType::kUndefined) continue;
    const DataType& found = data_type(data_type_of(dtype));
    EXPECT_EQ(found.dtype, dtype) << name_of(dtype);
    if (size_of(dtype) == 0) continue;
    EXPECT_EQ(static_cast<size_t>(found.bits), size_of(dtype) * 8) << name_of(dtype);
  }
  EXPECT_EQ(data_type_of(DType::kUndefined), 0);
}

TEST(DataType, IsFoundByName) {
  EXPECT_EQ(find_data_type("DT_BF16")->number, 27);
  EXPECT_EQ(find_data_type("DT_NONE"), nullptr);
}

TEST(DataType, SmallElementsLiePacked) {
  EXPECT_EQ(bytes_of(data_type(28), 3), 2u);
  EXPECT_EQ(bytes_of(data_type(29), 9), 2u);
  EXPECT_EQ(bytes_of(data_type(37), 4), 3u);
  EXPECT_EQ(bytes_of(data_type(1), 3), 12u);
}

TEST(Format, HasNameAndNumber) {
  EXPECT_EQ(format_name(kNc1hwc0), "NC1HWC0");
  EXPECT_EQ(format_name(kFractalNz), "FRACTAL_NZ");
  EXPECT_EQ(format_name(49), "C1HWC0");
  EXPECT_EQ(format_name(255), "MAX");
  EXPECT_EQ(format_name(-1), "UNKNOWN");
  for (int32_t number = 0; number < 50; ++number) EXPECT_EQ(find_format(format_name(number)), number);
  EXPECT_EQ(find_format("nhwc"), kNhwc);
  EXPECT_EQ(find_format("max"), 255);
  EXPECT_FALSE(find_format("NOTHING"));
}

}  // namespace
}  // namespace npu::graph::record
