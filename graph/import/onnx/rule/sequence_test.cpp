// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/import/onnx/onnx_graph_fixture.h"

namespace npu::graph::onnx {
namespace {

/// Two sequences of two tensors and a tensor, mapped: x · factor + y, and how large x is.
OnnxGraph mapped(const OnnxGraph& body) {
  OnnxGraph graph;
  for (const char* name : {"a", "b", "c", "d", "factor"}) graph.input<float>(name);
  graph.input<int64_t>("first").input<int64_t>("second");
  graph.node("SequenceConstruct", {"a", "b"}, {"xs"}).node("SequenceConstruct", {"c", "d"}, {"ys"});
  graph.node("SequenceMap", {"xs", "ys", "factor"}, {"sums", "sizes"}, {body.as("body")});
  for (const char* of : {"sums", "sizes"})
    for (const char* at : {"first", "second"})
      graph.node("SequenceAt", {of, at}, {std::string(of) + at}).output(std::string(of) + at);
  return graph;
}

const std::vector<Value>& arguments() {
  static const std::vector<Value> kValues = {value_of<float>({1}, {1}),  value_of<float>({2}, {2, 3}),
                                             value_of<float>({1}, {10}), value_of<float>({2}, {20, 30}),
                                             value_of<float>({}, {100}), value_of<int64_t>({}, {0}),
                                             value_of<int64_t>({}, {1})};
  return kValues;
}

TEST(OnnxSequenceMap, GoesOverElements) {
  OnnxGraph body;
  body.input<float>("x").input<float>("y").input<float>("f");
  body.node("Mul", {"x", "f"}, {"scaled"}).node("Add", {"scaled", "y"}, {"sum"}).node("Size", {"x"}, {"size"});
  const auto got = run_model(mapped(body.output("sum").output("size")).model(17), arguments());
  EXPECT_EQ(got[0].numbers, (std::vector<double>{110}));
  EXPECT_EQ(got[1].numbers, (std::vector<double>{220, 330}));
  EXPECT_EQ(got[2].numbers, (std::vector<double>{1}));
  EXPECT_EQ(got[3].numbers, (std::vector<double>{2}));
  EXPECT_EQ(got[3].dtype, DType::kInt64);
}

TEST(OnnxSequenceMap, SeesWhatStandsAroundIt) {
  OnnxGraph body;
  body.input<float>("x").input<float>("y").input<float>("f");
  body.node("Add", {"x", "d"}, {"sum"}).node("Size", {"y"}, {"size"});
  const auto got = run_model(mapped(body.output("sum").output("size")).model(17), arguments());
  EXPECT_EQ(got[0].numbers, (std::vector<double>{21, 31}));
  EXPECT_EQ(got[1].numbers, (std::vector<double>{22, 33}));
}

TEST(OnnxSequenceMap, ABodyOfOtherInputsIsRefused) {
  OnnxGraph body;
  body.input<float>("x").node("Neg", {"x"}, {"y"}).output("y");
  EXPECT_NE(refusal_of(mapped(body).model(17)).find("its body has 1 inputs for 3"), std::string::npos);
}

}  // namespace
}  // namespace npu::graph::onnx
