// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/verify.h"

#include <gtest/gtest.h>

#include "graph/import/tensorflow/dialect.h"

namespace npu::graph {
namespace {

const Output kFloats{ValueType::tensor(DType::kFloat), {}};
const Output kTruth{ValueType::tensor(DType::kBool), {}};

std::shared_ptr<Function> identity(const std::string& name, Output value) {
  auto f = std::make_shared<Function>(name, tensorflow::dialect());
  const NodeId x = f->add_argument("x", value);
  f->results.push_back({"x", {x, 0}});
  return f;
}

std::string refusal(const Function& f, const Program& program = {}) {
  try {
    verify(f, program);
  } catch (const Error& e) {
    return e.message();
  }
  return "holds";
}

Function caller(std::string op, std::vector<std::pair<std::string, std::string>> functions) {
  Function f("f", tensorflow::dialect());
  const NodeId x = f.add_argument("x", kFloats), p = f.add_argument("p", kTruth);
  Node node;
  node.name = "node", node.kind = f.dialect->kind_of(op), node.op = op, node.outputs = {kFloats};
  node.inputs = op == "If" ? std::vector<Edge>{{p, 0}, {x, 0}} : std::vector<Edge>{{x, 0}};
  for (auto& [attribute, name] : functions) node.attributes.set(attribute, FunctionName{name});
  f.results.push_back({"y", {f.add(std::move(node)), 0}});
  return f;
}

TEST(Verify, Edges) {
  const auto f = identity("f", kFloats);
  EXPECT_EQ(refusal(*f), "holds");
  f->results[0].value = {0, 1};
  EXPECT_EQ(refusal(*f), "function f, result x: it uses output 1 of x, which has 1");
  f->results[0].value = {7, 0};
  EXPECT_EQ(refusal(*f), "function f, result x: there is no node 7");
  f->results[0].value = {0, 0};
  f->nodes[0].removed = true;
  EXPECT_EQ(refusal(*f), "function f, result x: it uses node x, which was removed");
}

TEST(Verify, NodesThatStandForNoArgumentBringNothing) {
  const auto f = identity("f", kFloats);
  f->arguments.clear();
  EXPECT_EQ(refusal(*f), "function f, result x: it uses x, which stands for no argument");
}

TEST(Verify, PartsFitTheirNodes) {
  auto f = identity("f", kFloats);
  Node node;
  node.name = "fused", node.kind = Kind::kElementwise, node.inputs = {{0, 0}}, node.outputs = {kFloats};
  node.parts = identity("parts", kFloats);
  const NodeId id = f->add(std::move(node));
  EXPECT_EQ(refusal(*f), "holds");
  auto damaged = identity("parts", kFloats);
  damaged->results[0].value = {7, 0};
  (*f)[id].parts = damaged;
  EXPECT_EQ(refusal(*f), "function f, node fused: function parts, result x: there is no node 7");
  (*f)[id].parts = identity("parts", kFloats);
  (*f)[id].outputs.push_back(kFloats);
  EXPECT_EQ(refusal(*f),
            "function f, node fused: its parts have 1 arguments and 1 results; it has 1 inputs and 2 outputs");
  for (const Kind kind : {Kind::kElementwise, Kind::kVariableUpdate}) {
    (*f)[id].kind = kind, (*f)[id].parts = nullptr;
    EXPECT_EQ(refusal(*f), "function f, node fused: it has no parts");
  }
}

TEST(Verify, CalledFunctionsFitTheirNodes) {
  Program program;
  program.add(identity("floats", kFloats));
  program.add(identity("truth", kTruth));
  auto test = identity("test", kFloats);
  test->results[0].value = {test->add([] {
    Node node;
    node.name = "less", node.op = "Less", node.outputs = {kTruth};
    return node;
  }())};
  program.add(test);
  EXPECT_EQ(refusal(caller("PartitionedCall", {{"f", "floats"}}), program), "holds");
  EXPECT_EQ(refusal(caller("If", {{"then_branch", "floats"}, {"else_branch", "floats"}}), program), "holds");
  EXPECT_EQ(refusal(caller("While", {{"body", "floats"}, {"cond", "test"}}), program), "holds");
  EXPECT_EQ(refusal(caller("If", {{"then_branch", "floats"}, {"else_branch", "truth"}}), program),
            "function f, node node: the arguments of truth are (bool); the node has (float32)");
  EXPECT_EQ(refusal(caller("While", {{"body", "floats"}}), program),
            "function f, node node: attribute cond is missing");
  EXPECT_EQ(
      refusal(caller("MapDataset", {{"f", "lost"}}), program),
      "function f, node node: function lost is called but not in the program; pass its definition with the caller's");
}

}  // namespace
}  // namespace npu::graph
