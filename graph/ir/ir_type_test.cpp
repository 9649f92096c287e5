// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/ir_type.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace npu::graph {
namespace {

TEST(IrType, ListedOperatorsHaveTheVendorsNameAndOthersTheirOwn) {
  EXPECT_EQ(ir_type("MatMul"), "MatMulV2");
  EXPECT_EQ(ir_type("Sum"), "ReduceSum");
  EXPECT_EQ(ir_type("FusedBatchNormV3"), "BatchNorm");
  EXPECT_EQ(ir_type("Relu"), "Relu");
  EXPECT_EQ(ir_type(""), "");
}

TEST(IrType, UsersMayWriteEitherName) {
  EXPECT_TRUE(is_called("Sum", "Sum"));
  EXPECT_TRUE(is_called("Sum", "ReduceSum"));
  EXPECT_TRUE(is_called("Sum", "ReduceSumD"));
  EXPECT_TRUE(is_called("Relu", "Relu"));
  EXPECT_FALSE(is_called("Sum", "ReduceMax"));
  EXPECT_FALSE(is_called("Relu", ""));
}

TEST(IrType, EveryRowSaysSomething) {
  const auto all = listed_operators();
  EXPECT_GT(all.size(), 30u);
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "listed twice";
  for (const std::string_view op : all) EXPECT_NE(ir_types(op), op);
}

}  // namespace
}  // namespace npu::graph
