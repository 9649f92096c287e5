// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/import/onnx/onnx_graph_fixture.h"

namespace npu::graph::onnx {
namespace {

/// Sums of what came so far.
OnnxGraph running_sum() {
  OnnxGraph body;
  body.input<float>("so_far").input<float>("next");
  body.node("Add", {"so_far", "next"}, {"sum"}).node("Identity", {"sum"}, {"told"});
  return body.output("sum").output("told");
}

std::string scan(int64_t opset, const std::vector<std::string>& inputs) {
  OnnxGraph graph;
  for (const std::string& name : inputs)
    if (name == "lengths")
      graph.input<int64_t>(name);
    else if (!name.empty())
      graph.input<float>(name);
  graph.node("Scan", inputs, {"last", "all"}, {running_sum().as("body"), attribute("num_scan_inputs", 1)});
  return graph.output("last").output("all").model(opset);
}

TEST(OnnxScan, BatchesBeginAnew) {
  const auto got =
      run_model(scan(8, {"", "start", "x"}), {value_of<float>({2, 2}, {100, 200, 0, -1}),
                                              value_of<float>({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})});
  EXPECT_EQ(got[0].shape, Dims({2, 2}));
  EXPECT_EQ(got[0].numbers, (std::vector<double>{109, 212, 27, 29}));
  EXPECT_EQ(got[1].shape, Dims({2, 3, 2}));
  EXPECT_EQ(got[1].numbers, (std::vector<double>{101, 202, 104, 206, 109, 212, 7, 7, 16, 17, 27, 29}));
}

TEST(OnnxScan, GoesOverTheFirstAxisSinceOpset9) {
  const auto got = run_model(scan(9, {"start", "x"}),
                             {value_of<float>({2}, {100, 200}), value_of<float>({3, 2}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(got[0].numbers, (std::vector<double>{109, 212}));
  EXPECT_EQ(got[1].numbers, (std::vector<double>{101, 202, 104, 206, 109, 212}));
}

TEST(OnnxScan, LengthsOfBatchesAreRefused) {
  const std::string text = refusal_of(scan(8, {"lengths", "start", "x"}));
  EXPECT_NE(text.find("sequence_lens"), std::string::npos) << text;
  EXPECT_NE(text.find("opset 9"), std::string::npos) << text;
}

}  // namespace
}  // namespace npu::graph::onnx
