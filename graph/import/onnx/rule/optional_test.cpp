// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/import/onnx/onnx_graph_fixture.h"

namespace npu::graph::onnx {
namespace {

constexpr int64_t kFloatNumber = 1, kFloat8Number = 17;

OnnxGraph nothing(int64_t element) {
  OnnxGraph graph;
  return graph.node("Optional", {}, {"o"}, {attribute_of_type("type", tensor_type(element))});
}

TEST(OnnxOptional, GivesBackWhatItHolds) {
  OnnxGraph graph;
  graph.input<float>("x").node("Optional", {"x"}, {"o"});
  graph.node("OptionalHasElement", {"o"}, {"there"}).node("OptionalGetElement", {"o"}, {"y"});
  graph.node("Neg", {"y"}, {"z"}).output("there").output("z");
  const auto got = run_model(graph.model(15), {value_of<float>({2}, {1, 2})});
  EXPECT_EQ(got[0].numbers, std::vector<double>{1});
  EXPECT_EQ(got[1].numbers, (std::vector<double>{-1, -2}));
}

TEST(OnnxOptional, TellsWhetherItIsThere) {
  OnnxGraph graph = nothing(kFloatNumber);
  graph.input<float>("x").node("OptionalHasElement", {"o"}, {"held"});
  graph.node("OptionalHasElement", {""}, {"given"}).node("OptionalHasElement", {"x"}, {"tensor"});
  const auto got = run_model(graph.output("held").output("given").output("tensor").model(18),
                             {value_of<float>({0}, std::vector<float>{})});
  EXPECT_EQ(got[0].numbers, std::vector<double>{0});
  EXPECT_EQ(got[1].numbers, std::vector<double>{0});
  EXPECT_EQ(got[2].numbers, std::vector<double>{1}) << "a tensor is there, without elements as well";
}

TEST(OnnxOptional, HoldsSequences) {
  OnnxGraph graph;
  graph.input<float>("x").input<int64_t>("i").node("SequenceConstruct", {"x", "x"}, {"s"});
  graph.node("Optional", {"s"}, {"o"}).node("OptionalGetElement", {"o"}, {"t"}).node("SequenceAt", {"t", "i"}, {"y"});
  const auto got = run_model(graph.output("y").model(15), {value_of<float>({2}, {1, 2}), value_of<int64_t>({}, {1})});
  EXPECT_EQ(got[0].numbers, (std::vector<double>{1, 2}));
}

/// What an edge of an optional does not tell goes with it into graphs inside.
TEST(OnnxOptional, IsKnownInsideOfBranches) {
  OnnxGraph there, missing;
  there.node("OptionalGetElement", {"o"}, {"held"}).output("held");
  missing.node("Neg", {"x"}, {"other"}).output("other");
  OnnxGraph graph;
  graph.input<float>("x").node("Optional", {"x"}, {"o"}).node("OptionalHasElement", {"o"}, {"there"});
  graph.node("If", {"there"}, {"y"}, {there.as("then_branch"), missing.as("else_branch")}).output("y");
  EXPECT_EQ(run_model(graph.model(16), {value_of<float>({2}, {1, 2})})[0].numbers, (std::vector<double>{1, 2}));
}

TEST(OnnxOptional, RefusesWhatTellsNothing) {
  OnnxGraph graph;
  graph.node("Optional", {}, {"o"}).node("OptionalHasElement", {"o"}, {"y"}).output("y");
  EXPECT_NE(refusal_of(graph.model(15)).find("neither an input nor a type"), std::string::npos);
  OnnxGraph small = nothing(kFloat8Number);
  small.node("OptionalHasElement", {"o"}, {"y"}).output("y");
  EXPECT_NE(refusal_of(small.model(15)).find("a type that the NPU does not compute"), std::string::npos);
}

TEST(OnnxOptional, RefusesTypesThatLieTooDeep) {
  std::string type = tensor_type(kFloatNumber);
  for (int depth = 0; depth < 20; ++depth) {
    const std::string held = message([&](auto& w) { w.add_message(field::kElement, type); });
    type = message([&](auto& w) { w.add_message(depth % 2 == 0 ? field::kOptionalType : field::kSequenceType, held); });
  }
  OnnxGraph graph;
  graph.node("Optional", {}, {"o"}, {attribute_of_type("type", type)}).output("o");
  EXPECT_NE(refusal_of(graph.model(15)).find("types lie more than 16 deep in each other"), std::string::npos);
}

/// The element of nothing is asked for only while the model runs.
TEST(OnnxOptional, TheElementOfNothingIsRefused) {
  OnnxGraph graph = nothing(kFloatNumber);
  graph.node("OptionalGetElement", {"o"}, {"y"}).output("y");
  EXPECT_NE(refusal_of(graph.model(15)), "");
}

}  // namespace
}  // namespace npu::graph::onnx
