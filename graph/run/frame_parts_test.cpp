// SPDX-License-Identifier: Apache-2.0
// What fused nodes stand for.
#include <gtest/gtest.h>

#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"
#include "ops/runner/observer.h"

namespace npu::graph {
namespace {

struct Told {
  std::string type;
  bool fused = false;
  std::vector<std::string> operators;
  size_t given = 0, results = 0;
  std::vector<const void*> memory, inputs;
};

/// Asks each node for its parts.
class Asker final : public ops::Observer {
 public:
  std::unique_ptr<ops::Watch> start(const ops::Execution& e) override {
    Told& one = told.emplace_back();
    one.type = e.name.type;
    for (const ops::Seen& seen : e.inputs) one.inputs.push_back(seen.tensor.data);
    one.fused = static_cast<bool>(e.parts);
    if (!one.fused) return nullptr;
    const ops::Parts parts = e.parts();
    for (const auto& op : parts.operators) one.operators.emplace_back(op->def->name);
    for (const auto& place : parts.given) one.memory.push_back(place.memory.data);
    one.given = parts.given.size(), one.results = parts.results.size();
    return nullptr;
  }
  std::vector<Told> told;
};

class PartsOfNodes : public ::testing::Test {
 protected:
  void SetUp() override { ops::add_observer(asker); }
  void TearDown() override { ops::remove_observer(*asker); }
  const Told& run(const TestFunction& f, std::vector<Value> inputs) {
    Program program;
    program.add(f.function());
    library.add(program);
    library.get(f.function()->name, Role::kRoot)->run(std::move(inputs));
    return asker->told.front();
  }

  Library library{0, {}};
  std::shared_ptr<Asker> asker = std::make_shared<Asker>();
};

using Names = std::vector<std::string>;

TEST_F(PartsOfNodes, OfAChainAreItsOperatorsOnWhatItReads) {
  TestFunction f("chain");
  const Edge x = f.argument("x"), square = f.node("Mul", {x, x});
  f.result(f.node("AddV2", {square, x}));
  const Told& node = run(f, {value_of<float>({2}, {3, 4})});
  EXPECT_EQ(node.operators, (Names{"mul", "add"}));
  EXPECT_EQ(node.memory, node.inputs);
  EXPECT_EQ(node.results, 1u);
}

TEST_F(PartsOfNodes, OfAProductAreTheProductAndWhatFollows) {
  TestFunction f("product");
  const Edge x = f.argument("x"), w = f.argument("w"), b = f.argument("b"), product = f.node("MatMul", {x, w});
  f.with(product, "transpose_a", false).with(product, "transpose_b", false);
  f.result(f.node("Relu", {f.node("BiasAdd", {product, b})}));
  const Told& node =
      run(f, {value_of<float>({1, 2}, {1, 2}), value_of<float>({2, 2}, {1, -1, 1, -1}), value_of<float>({2}, {5, 6})});
  ASSERT_EQ(asker->told.size(), 1u);
  EXPECT_EQ(node.operators.size(), 3u) << testing::PrintToString(node.operators);
  EXPECT_EQ(node.operators.back(), "relu");
  EXPECT_EQ(node.given, 3u);
}

TEST_F(PartsOfNodes, ConstantsAreGiven) {
  TestFunction f("constants");
  const Edge x = f.argument("x"), two = f.constant<float>({2}, {2, 3});
  f.result(f.node("AddV2", {f.node("Mul", {x, two}), two}));
  const Told& node = run(f, {value_of<float>({2}, {3, 4})});
  EXPECT_EQ(node.operators, (Names{"mul", "add"}));
  EXPECT_GE(node.given, 2u);
}

TEST_F(PartsOfNodes, ANodeThatIsNotFusedHasNone) {
  TestFunction f("alone");
  f.result(f.node("Relu", {f.argument("x")}));
  EXPECT_FALSE(run(f, {value_of<float>({2}, {3, 4})}).fused);
}

}  // namespace
}  // namespace npu::graph
