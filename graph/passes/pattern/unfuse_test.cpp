// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/pattern/unfuse.h"

#include <gtest/gtest.h>

#include "graph/graph_fixture.h"

namespace npu::graph {
namespace {

TEST(Unfuse, APartThatComesAfterAnArgumentComesAfterWhatBringsIt) {
  TestFunction p("parts");
  const Edge x = p.argument("x"), y = p.node("Neg", {x});
  p.result(y);
  auto parts = std::make_shared<Function>(*p.function());
  (*parts)[y.node].after = {x.node};
  TestFunction f("f");
  const Edge given = f.node("Abs", {f.argument("a")});
  Function whole = *f.function();
  Node node;
  node.name = "fused", node.kind = Kind::kElementwise, node.inputs = {given};
  node.outputs = {{ValueType::tensor(DType::kFloat), {}}}, node.parts = parts;
  whole.results.push_back({"y", {whole.add(std::move(node)), 0}});
  const Function apart = unfused(whole);
  const Node& neg = apart[apart.results[0].value.node];
  EXPECT_EQ(neg.op, "Neg");
  ASSERT_EQ(neg.after.size(), 1u);
  EXPECT_EQ(apart[neg.after[0]].op, "Abs");
}

}  // namespace
}  // namespace npu::graph
