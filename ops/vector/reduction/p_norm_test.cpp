// SPDX-License-Identifier: Apache-2.0
#include "ops/vector/reduction/p_norm.h"

#include <gtest/gtest.h>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

TEST(PNorm, KeepsNaN) {
  const double inf = HUGE_VAL;
  for (const double p : {inf, 1.0, 2.0, 3.0}) {
    const double first[] = {NAN, 5, 7}, last[] = {5, 7, NAN};
    EXPECT_TRUE(std::isnan(p_norm(first, 3, p))) << p;
    EXPECT_TRUE(std::isnan(p_norm(last, 3, p))) << p;
  }
  const double x[] = {3, -4};
  EXPECT_EQ(p_norm(x, 2, inf), 4);
  EXPECT_EQ(p_norm(x, 2, 2), 5);
}

/// torch scales what is above the limit, and NaN is not.
TEST(PNorm, RowsWithNaNAreLeftAlone) {
  const Array table(DType::kFloat, {2, 2}), indices(DType::kInt64, {2});
  const float values[] = {NAN, 5, 3, 4};
  std::copy(std::begin(values), std::end(values), table.tensor().as<float>());
  indices.tensor().as<int64_t>()[0] = 0;
  indices.tensor().as<int64_t>()[1] = 1;
  Call("embedding_renorm")
      .set("self", table.tensor())
      .set("indices", indices.tensor())
      .set("max_norm", 1.0)
      .set("norm_type", 2.0)
      .run();
  EXPECT_EQ(table.values()[1], 5);
  EXPECT_NEAR(table.values()[3], 0.8, 1e-6);
}

}  // namespace
}  // namespace npu::ops
