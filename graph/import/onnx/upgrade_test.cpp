// SPDX-License-Identifier: Apache-2.0
// Nodes of opsets before 7, against what their definitions say.
#include <gtest/gtest.h>

#include "graph/import/onnx/onnx_fixture.h"

namespace npu::graph::onnx {
namespace {

TEST(OnnxOldOpsets, TakeOperatorsThatDidNotChange) {
  for (const int64_t opset : {1, 5, 6}) {
    OnnxNode node("Relu", opset);
    node.input<float>({3}, {-1, 0, 2}).set("consumed_inputs", std::vector<int64_t>{0});
    EXPECT_EQ(node.run()[0].numbers, (std::vector<double>{0, 0, 2}));
  }
}

/// `axis` is where the second input stands among the axes of the first; without it NumPy's rule holds.
TEST(OnnxOldOpsets, BroadcastAlongAnAxis) {
  OnnxNode node("Add", 6);
  node.input<float>({2, 3, 2}, std::vector<float>(12, 0)).input<float>({3}, {1, 2, 3}).set("broadcast", 1);
  const std::vector<double> wanted{1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3};
  EXPECT_EQ(OnnxNode(node).set("axis", 1).run()[0].numbers, wanted);
  EXPECT_EQ(OnnxNode(node).set("axis", -2).run()[0].numbers, wanted);
  EXPECT_NE(OnnxNode(node).set("axis", 3).refusal().find("axis is 3"), std::string::npos);
  OnnxNode last("Less", 1);
  last.input<float>({2, 2}, {1, 5, 3, 7}).input<float>({2}, {2, 6}).set("broadcast", 1);
  EXPECT_EQ(last.run()[0].numbers, (std::vector<double>{1, 1, 0, 0}));
  OnnxNode unknown("Add", 6);
  unknown.input<float>({2, 3, 2}, std::vector<float>(12, 0), false).input<float>({3}, {1, 2, 3});
  EXPECT_NE(unknown.set("broadcast", 1).set("axis", 1).refusal().find("are not known"), std::string::npos);
}

TEST(OnnxOldOpsets, HaveOneSlopeForEachChannel) {
  OnnxNode node("PRelu", 6);
  node.input<float>({1, 2, 2}, {-1, 1, -1, 1}).input<float>({2}, {0.5, 0.25});
  EXPECT_EQ(node.run()[0].numbers, (std::vector<double>{-0.5, 1, -0.25, 1}));
}

TEST(OnnxOldOpsets, RefuseWhatMeantSomethingElse) {
  OnnxNode reshape("Reshape", 4);
  reshape.input<float>({4}, {1, 2, 3, 4}).set("shape", std::vector<int64_t>{2, 2});
  EXPECT_NE(reshape.refusal().find("were others before opset 5"), std::string::npos);
  OnnxNode dropout("Dropout", 6);
  dropout.input<float>({2}, {1, 2});
  EXPECT_EQ(OnnxNode(dropout).set("is_test", 1).run()[0].numbers, (std::vector<double>{1, 2}));
  EXPECT_NE(dropout.refusal().find("it trains unless is_test is 1"), std::string::npos);
}

TEST(OnnxOldOpsets, JoinAlongAxisOneByThemselves) {
  OnnxNode node("Concat", 3);
  node.input<float>({2, 1}, {1, 2}).input<float>({2, 1}, {3, 4});
  EXPECT_EQ(node.run()[0].numbers, (std::vector<double>{1, 3, 2, 4}));
}

}  // namespace
}  // namespace npu::graph::onnx
