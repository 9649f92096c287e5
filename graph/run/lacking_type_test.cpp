// SPDX-License-Identifier: Apache-2.0
// Functions on a SoC that lacks a type which they compute with.
#include <gtest/gtest.h>

#include "device/process/soc_fixture.h"
#include "graph/graph_fixture.h"
#include "graph/ir/node_error.h"
#include "graph/plan/planner.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

/// Why no plan can be made of x, of this type, through one node; "" where one can.
std::string refusal(const std::string& op, DType from, DType to) {
  TestFunction f("f");
  const Edge x = f.argument("x", ValueType::tensor(from));
  const Edge y = f.node(op, {x}, ValueType::tensor(to));
  if (op == "Cast") f.with(y, "SrcT", ValueType::tensor(from)).with(y, "DstT", ValueType::tensor(to));
  const auto function = f.result(y).function();
  const std::vector<ArgumentTraits> traits = {
      {ValueType::tensor(from), make_tensor(nullptr, from, {4}), nullptr, nullptr}};
  Library library(0);
  try {
    Planner(*function, library, traits).make();
  } catch (const NodeError& error) {
    return error.what();
  }
  return "";
}

TEST(LackingType, NodesThatComputeWithItAreRefused) {
  const device::OnSoc soc("Ascend910A");
  const std::string text = refusal("Neg", DType::kBFloat16, DType::kBFloat16);
  EXPECT_NE(text.find("n_Neg (Neg): its self is bfloat16: Neg takes no bfloat16 on Ascend910A"), std::string::npos)
      << text;
  EXPECT_NE(refusal("Cast", DType::kHalf, DType::kBFloat16).find("Cast takes no bfloat16"), std::string::npos);
  EXPECT_NE(refusal("Cast", DType::kBFloat16, DType::kFloat).find("Cast takes no bfloat16"), std::string::npos);
  EXPECT_EQ(refusal("Neg", DType::kHalf, DType::kHalf), "");
  EXPECT_EQ(refusal("Identity", DType::kBFloat16, DType::kBFloat16), "") << "nothing is computed";
}

TEST(LackingType, WhereTheSocHasItNothingIsRefused) {
  const device::OnSoc soc("Ascend910B1");
  EXPECT_EQ(refusal("Neg", DType::kBFloat16, DType::kBFloat16), "");
  EXPECT_EQ(refusal("Cast", DType::kHalf, DType::kBFloat16), "");
}

}  // namespace
}  // namespace npu::graph
