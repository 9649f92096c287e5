// SPDX-License-Identifier: Apache-2.0
// Graphs in the eyes of observers.
#include "ops/runner/observer.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

struct Told {
  std::string graph, node, type;
  int64_t step;
  std::vector<std::vector<float>> inputs, outputs;
  std::vector<std::string> origins;
};

std::vector<std::vector<float>> numbers_of(const std::vector<ops::Seen>& all) {
  std::vector<std::vector<float>> out;
  for (const ops::Seen& seen : all) {
    if (seen.tensor.dtype != DType::kFloat) continue;
    const float* from = seen.tensor.as<float>();
    out.emplace_back(from, from + seen.tensor.count());
  }
  return out;
}

/// Inputs are read before a node runs, outputs after.
class Recorder final : public ops::Observer {
 public:
  struct Note final : ops::Watch {
    Note(Recorder& to, size_t index) : recorder(to), at(index) {}
    void finished(const ops::Execution& e) override { recorder.told[at].outputs = numbers_of(e.outputs); }
    Recorder& recorder;
    const size_t at;
  };
  std::unique_ptr<ops::Watch> start(const ops::Execution& e) override {
    told.push_back({e.graph, e.name.node, e.name.type, e.step, numbers_of(e.inputs), {}, e.origins});
    return std::make_unique<Note>(*this, told.size() - 1);
  }
  std::vector<Told> told;
};

class ObservedGraph : public ::testing::Test {
 protected:
  void SetUp() override { ops::add_observer(recorder); }
  void TearDown() override { ops::remove_observer(*recorder); }

  void add(const TestFunction& f) {
    Program program;
    program.add(f.function());
    library.add(program);
  }

  Library library{0, {}};
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
};

using Rows = std::vector<std::vector<float>>;

TEST_F(ObservedGraph, ANodeIsShownWithWhatItReadAndWrote) {
  TestFunction f("step");
  const Edge x = f.argument("x"), w = f.argument("w"), product = f.node("MatMul", {x, w});
  f.with(product, "transpose_a", false).with(product, "transpose_b", false);
  f.result(f.node("Relu", {product}));
  library.switch_off({"matmul_epilogue"});
  add(f);
  for (int run = 0; run < 2; ++run)
    library.get("step", Role::kRoot)->run({value_of<float>({1, 2}, {1, 2}), value_of<float>({2, 2}, {1, -1, 1, -1})});
  ASSERT_EQ(recorder->told.size(), 4u);
  const Told& first = recorder->told[0];
  EXPECT_EQ(first.graph, "step");
  EXPECT_EQ(first.node, "n_MatMul");
  EXPECT_EQ(first.type, "MatMulV2");
  EXPECT_EQ(first.inputs, (Rows{{1, 2}, {1, -1, 1, -1}}));
  EXPECT_EQ(first.outputs, (Rows{{3, -3}}));
  EXPECT_EQ(recorder->told[1].outputs, (Rows{{3, 0}}));
  EXPECT_EQ(first.step, 0);
  EXPECT_EQ(recorder->told[3].step, 1);
}

TEST_F(ObservedGraph, AnOutputThatNobodyReadsIsWhatTheNodeLeftThere) {
  TestFunction f("norm");
  const Edge x = f.argument("x"), scale = f.argument("scale"), offset = f.argument("offset");
  const Edge none = f.constant<float>({0}, {});
  const Edge norm = f.node("FusedBatchNormV3", {x, scale, offset, none, none}, ValueType::tensor(DType::kFloat), 6);
  f.with(norm, "is_training", true).with(norm, "epsilon", 0.0).with(norm, "data_format", std::string("NHWC"));
  f.result(f.node("Neg", {norm}));
  add(f);
  library.get("norm", Role::kRoot)
      ->run({value_of<float>({1, 1, 2, 2}, {1, 2, 3, 6}), value_of<float>({2}, {1, 1}), value_of<float>({2}, {0, 0})});
  ASSERT_EQ(recorder->told.size(), 2u);
  EXPECT_EQ(recorder->told[0].outputs, (Rows{{-1, -1, 1, 1}, {2, 4}, {2, 8}, {2, 4}, {1, 4}, {0}}));
}

TEST_F(ObservedGraph, AFusedNodeIsShownOnce) {
  TestFunction f("fused");
  const Edge x = f.argument("x"), square = f.node("Mul", {x, x});
  f.result(f.node("AddV2", {square, x}));
  add(f);
  library.get("fused", Role::kRoot)->run({value_of<float>({2}, {3, 4})});
  ASSERT_EQ(recorder->told.size(), 1u);
  EXPECT_EQ(recorder->told[0].inputs, (Rows{{3, 4}}));
  EXPECT_EQ(recorder->told[0].outputs, (Rows{{12, 20}}));
  EXPECT_EQ(recorder->told[0].origins, (std::vector<std::string>{"n_Mul", "n_AddV2"}));
}

TEST_F(ObservedGraph, AFusedNodeIsCalledAsInTheGraphsText) {
  TestFunction f("named");
  const Edge x = f.argument("x"), w = f.argument("w"), product = f.node("MatMul", {x, w});
  f.with(product, "transpose_a", false).with(product, "transpose_b", false);
  f.result(f.node("Relu", {product}));
  add(f);
  library.get("named", Role::kRoot)->run({value_of<float>({1, 2}, {1, 2}), value_of<float>({2, 2}, {1, -1, 1, -1})});
  ASSERT_EQ(recorder->told.size(), 1u);
  EXPECT_EQ(recorder->told[0].node, "n_Relu");
  EXPECT_EQ(recorder->told[0].type, "_FusedProduct");
  EXPECT_EQ(recorder->told[0].origins, (std::vector<std::string>{"n_MatMul", "n_Relu"}));
}

TEST_F(ObservedGraph, AVariableIsShownBeforeAndAfterItChanges) {
  TestFunction f("train");
  const Edge v = f.argument("v", ValueType::resource()), gradient = f.argument("g");
  const Edge rate = f.constant<float>({}, {0.5F});
  f.must_run(f.node("ResourceApplyGradientDescent", {v, rate, gradient}, {}, 0));
  add(f);
  auto variable = std::make_shared<Variable>(0);
  variable->assign(value_of<float>({2}, {1, 2}));
  library.get("train", Role::kRoot)->run({{{}, nullptr, variable}, value_of<float>({2}, {2, 4})});
  ASSERT_EQ(recorder->told.size(), 1u);
  EXPECT_EQ(recorder->told[0].type, "ApplyGradientDescent");
  EXPECT_EQ(recorder->told[0].inputs, (Rows{{1, 2}, {0.5F}, {2, 4}}));
  EXPECT_EQ(recorder->told[0].outputs, (Rows{{0, 0}}));
}

TEST_F(ObservedGraph, EachTurnOfALoopThatTrainsIsAStep) {
  const auto kInts = ValueType::tensor(DType::kInt32), kTruth = ValueType::tensor(DType::kBool);
  TestFunction less("less"), turn("turn"), loop("loop");
  const Edge limit = less.argument("i", kInts);
  less.argument("v", ValueType::resource());
  less.result(less.node("Less", {limit, less.constant<int32_t>({}, {3})}, kTruth));
  const Edge i = turn.argument("i", kInts), v = turn.argument("v", ValueType::resource());
  turn.must_run(turn.node("ResourceApplyGradientDescent",
                          {v, turn.constant<float>({}, {1}), turn.constant<float>({1}, {1})}, {}, 0));
  turn.result(turn.node("AddV2", {i, turn.constant<int32_t>({}, {1})}, kInts)).result(v);
  const Edge start = loop.argument("i", kInts), variable = loop.argument("v", ValueType::resource());
  const Edge end = loop.node("While", {start, variable}, kInts, 2);
  (*loop.function())[end.node].outputs[1].type = ValueType::resource();
  loop.with(end, "cond", FunctionName{"less"}).with(end, "body", FunctionName{"turn"}).result(end);
  for (const TestFunction* f : {&less, &turn, &loop}) add(*f);
  auto held = std::make_shared<Variable>(0);
  held->assign(value_of<float>({1}, {10}));
  for (int run = 0; run < 2; ++run)
    library.get("loop", Role::kRoot)->run({value_of<int32_t>({}, {0}), {{}, nullptr, held}});
  std::vector<int64_t> steps;
  for (const Told& one : recorder->told) {
    EXPECT_EQ(one.graph, "loop");
    if (one.type == "ApplyGradientDescent") steps.push_back(one.step);
  }
  EXPECT_EQ(steps, (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
}

/// What is written down of nodes, a line each.
class Writer final : public ops::TaskWriter {
 public:
  void write(const ops::RanOperator& ran) override { lines.emplace_back(ran.call); }
  void write(const ops::RanNode& ran) override {
    std::string shapes;
    ran.reading.each([&](DType dtype, std::span<const uint64_t> shape, ops::Reading::Use use) {
      shapes += fmt::format(" {}{}{}[{}]", use.reads ? "r" : "", use.writes ? "w" : "", dtype, fmt::join(shape, "x"));
    });
    lines.push_back(fmt::format("{} {} of {} {}, node {}, {} bytes:{}", ran.type, ran.name, ran.graph, ran.step,
                                ran.number, ran.reading.bytes(), shapes));
  }
  void write(const ops::Execution& execution, int64_t /*start*/) override {
    ops::Reading reading;
    for (const ops::Seen& seen : execution.inputs) reading.add(seen.tensor, {true, false});
    for (const ops::Seen& seen : execution.outputs) reading.add(seen.tensor, {false, true});
    write(ops::RanNode{execution.name.node, execution.name.type, execution.graph, execution.step, execution.device,
                       execution.number, 0, reading});
  }
  std::vector<std::string> lines;
};

TEST_F(ObservedGraph, RecordsAreTheSameWhoeverElseLooksOn) {
  TestFunction f("train");
  const Edge v = f.argument("v", ValueType::resource()), x = f.argument("x"), w = f.argument("w");
  const Edge rate = f.constant<float>({}, {0.5F}), product = f.node("MatMul", {x, w});
  f.with(product, "transpose_a", false).with(product, "transpose_b", false);
  f.must_run(f.node("ResourceApplyGradientDescent", {v, rate, product}, {}, 0)).result(product);
  add(f);
  std::vector<std::string> lines[2];
  for (const bool alone : {false, true}) {
    if (alone) ops::remove_observer(*recorder);
    Writer writer;
    ops::set_task_writer(&writer);
    auto variable = std::make_shared<Variable>(0);
    variable->assign(value_of<float>({1, 2}, {1, 2}));
    const auto executable = library.get("train", Role::kRoot);
    executable->run({{{}, nullptr, variable}, value_of<float>({1, 2}, {2, 4}), value_of<float>({2, 2}, {1, 0, 0, 1})});
    ops::set_task_writer(nullptr);
    lines[alone] = writer.lines;
    EXPECT_EQ(recorder->told.size(), 2u) << "one run";
    for (std::string& line : lines[alone]) line.replace(line.find(" of train ") + 10, 1, "n");  // the step counts on
  }
  ASSERT_EQ(lines[0].size(), 2u);
  EXPECT_EQ(lines[0], lines[1]);
  EXPECT_EQ(lines[1][0], "MatMulV2 n_MatMul of train n, node 1, 32 bytes: rfloat32[1x2] rfloat32[2x2] wfloat32[1x2]");
}

TEST_F(ObservedGraph, WhatFailsIsWrittenDown) {
  ops::remove_observer(*recorder);
  TestFunction f("wrong");
  const Edge x = f.argument("x"), at = f.argument("at", ValueType::tensor(DType::kInt32));
  f.result(f.node("GatherV2", {x, at, f.constant<int32_t>({}, {0})}));
  add(f);
  Writer writer;
  ops::set_task_writer(&writer);
  EXPECT_THROW(library.get("wrong", Role::kRoot)->run({value_of<float>({2}, {1, 2}), value_of<int32_t>({1}, {7})}),
               Error);
  ops::set_task_writer(nullptr);
  ASSERT_EQ(writer.lines.size(), 1u);
  EXPECT_TRUE(writer.lines[0].starts_with("GatherV2")) << writer.lines[0];
}

}  // namespace
}  // namespace npu::graph
