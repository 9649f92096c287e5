// SPDX-License-Identifier: Apache-2.0
#include "ops/cube/choices.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "ops/cube/choices_table.h"
#include "ops/cube/panels.h"

namespace npu::ops::cube {
namespace {

auto key_of(const Choices& row) { return std::tuple(row.cpu, row.work, row.dtype, row.variant); }

TEST(Choices, TheTableIsWhole) {
  EXPECT_TRUE(std::ranges::is_sorted(kChoices, {}, [](const Choices& row) {
    return std::tuple(row.cpu, row.work, row.dtype == DType::kBFloat16, row.variant, row.least_rows);
  }));
  for (const Choices& row : kChoices) {
    EXPECT_EQ(row.ways.size(), kChoices[0].ways.size());
    EXPECT_EQ(row.ways.find_first_not_of("ol"), std::string_view::npos) << row.ways;
    EXPECT_EQ(std::ranges::count_if(kChoices,
                                    [&](const Choices& r) { return key_of(r) == key_of(row) && r.least_rows == 0; }),
              1)
        << "no answer for few rows, or two";
  }
}

TEST(Choices, AShapeTakesTheLetterOfItsClass) {
  const auto rows = choices();
  if (!has_panels(DType::kFloat)) {
    EXPECT_TRUE(rows.empty());
    EXPECT_FALSE(takes_own({Work::kProduct, DType::kFloat, false, 1 << 20, 1024}));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const Choices& row = rows[i];
    const int64_t end = i + 1 < rows.size() && key_of(rows[i + 1]) == key_of(row) ? rows[i + 1].least_rows : 1 << 30;
    for (size_t size = 0; size < row.ways.size(); ++size) {
      const int64_t first = size == 0 ? 1 : int64_t{1} << (kFirstSize - 1 + size);
      const int64_t last = size + 1 == row.ways.size() ? int64_t{1} << 40 : (int64_t{1} << (kFirstSize + size)) - 1;
      for (const int64_t weights : {first, last}) {
        for (const int64_t n : {row.least_rows, end - 1}) {
          SCOPED_TRACE(fmt::format("row {}, {} weights, {} rows", i, weights, n));
          EXPECT_EQ(takes_own({row.work, row.dtype, row.variant, weights, n}), row.ways[size] == 'o');
        }
      }
    }
  }
  EXPECT_FALSE(takes_own({Work::kProduct, DType::kHalf, false, 1 << 20, 1024}));
}

TEST(Choices, ABenchForcesEitherWay) {
  const ShapeClass shape{Work::kProduct, DType::kHalf, false, 1, 1};
  {
    const ForcedWay own(true);
    EXPECT_TRUE(takes_own(shape));
  }
  EXPECT_FALSE(takes_own(shape));
  const ForcedWay library(false);
  for (const Choices& row : choices())
    EXPECT_FALSE(takes_own({row.work, row.dtype, row.variant, 1 << 20, row.least_rows}));
}

}  // namespace
}  // namespace npu::ops::cube
