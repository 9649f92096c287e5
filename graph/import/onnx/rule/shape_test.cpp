// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/import/onnx/onnx_fixture.h"

namespace npu::graph::onnx {
namespace {

TEST(OnnxReduce, KeepsItsAxesUnlessToldOtherwise) {
  for (const char* op : {"ReduceMean", "ReduceSum", "ReduceMax"}) {
    SCOPED_TRACE(op);
    const auto reduced = [&](auto&& say) {
      OnnxNode node(op, 11);
      node.input<float>({2, 3}, {1, 2, 3, 4, 5, 6}).set("axes", std::vector<int64_t>{1});
      say(node);
      return node.run()[0].shape;
    };
    EXPECT_EQ(reduced([](OnnxNode&) {}), Dims({2, 1}));
    EXPECT_EQ(reduced([](OnnxNode& node) { node.set("keepdims", 0); }), Dims({2}));
  }
}

}  // namespace
}  // namespace npu::graph::onnx
