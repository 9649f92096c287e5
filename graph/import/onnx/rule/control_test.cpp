// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/import/onnx/onnx_fixture.h"

namespace npu::graph::onnx {
namespace {

/// A condition with an axis of one element is what its element is, whether the file tells its rank or not.
TEST(OnnxIf, AsksTheElementOfItsCondition) {
  for (const Dims& shape : {Dims{}, Dims{1}})
    for (const bool ranked : {true, false})
      for (const bool truth : {true, false}) {
        OnnxNode node("If", 16);
        node.input<bool, uint8_t>(shape, {static_cast<uint8_t>(truth)}, ranked);
        node.set_branch("then_branch", 2).set_branch("else_branch", 3);
        EXPECT_EQ(node.run()[0].numbers, std::vector<double>{truth ? 2.0 : 3.0});
      }
}

}  // namespace
}  // namespace npu::graph::onnx
